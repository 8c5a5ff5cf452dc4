#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <memory>

namespace headrace::task {

/// Aggregates rows by key and window, and emits a row for each key when its window fires.
///
/// A window is a namespace of one keyed table, so there are no timers: the watermark decides which
/// namespaces fire, oldest first; a firing one is scanned in bounded pieces and then dropped whole.
///
///     add(batch)            late rows are counted or go to the late side output; the rest is
///     folded advance(watermark)    namespaces whose last millisecond is reached are due drain a
///     piece of the oldest one that is due; the next `drain` goes on there
///
/// With allowed lateness a fired window's rows move to a second table, where late rows find them;
/// its keys are then emitted anew a late row, and dropped when the lateness is over. What is in
/// which table is all that tells fired from open, so a rescaled restore needs nothing else.
///
/// An end-of-stream window is the one namespace 0, and fires at the end of input; it needs no
/// timestamps. Results of other windows carry the window's last millisecond as timestamp.
///
/// An output that is wider than the aggregates' result type, without a window function, has three
/// columns behind it: the window's start, its end and its last millisecond.
/// @errors invalid_graph, type_mismatch, graph_mismatch
result<std::unique_ptr<stream_operator>>
make_window_aggregate_operator(const graph::operator_node& node, const operator_context& context);

} // namespace headrace::task
