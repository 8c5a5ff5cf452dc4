#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <memory>

namespace headrace::task {

/// Aggregates rows that carry their windows (SQL's GROUP BY window_start, window_end over a window
/// function or over results of windows): a row a key, emitted once, when its window is over.
///
/// The output has the keys, the results, and the window's start, end and last millisecond. Groups
/// are kept as those of the running aggregate are, with the window's end as
/// namespace, so that there are no timers: the watermark, or the clock, decides which namespaces
/// fire.
///
///     add(batch)            rows of windows that are over are counted as late; the rest is taken
///     advance(watermark)    namespaces whose last millisecond is reached are due
///     drain                 a piece of the oldest one that is due; the next `drain` goes on there
///
/// Rows have the window's last millisecond as timestamp. With processing time nothing is late, and
/// what is open at the end of the input is not emitted.
/// @errors invalid_graph  too many aggregates
result<std::unique_ptr<stream_operator>>
make_window_group_operator(const graph::operator_node& node, const operator_context& context);

} // namespace headrace::task
