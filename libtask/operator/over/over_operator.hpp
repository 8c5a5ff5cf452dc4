#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <memory>

namespace headrace::task {

/// Gives each row with the results of functions over the rows of its key up to it (SQL's OVER). In
/// the order of the rows' times, once the watermark has passed them: rows of one time together,
/// late ones counted and left out. By processing time in the order in which they come, at once.
///
///     waiting   (time >> 10, key) → rows that the watermark has not passed, with their times
///     carried   key → what later rows need of these, of `over_calls`, and the rows that they need
///
/// A drain fires the rows of some keys of the oldest second. Rows leave with their time.
/// @errors none
result<std::unique_ptr<stream_operator>> make_over_operator(const graph::operator_node& node,
                                                            const operator_context& context);

} // namespace headrace::task
