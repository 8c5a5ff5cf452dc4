#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <memory>

namespace headrace::task {

/// Gives a row for each time that the rows of a key match a pattern (SQL's MATCH_RECOGNIZE). In the
/// order of the rows' times, once the watermark has passed them; late ones are counted and left
/// out. By processing time in the order in which they come, at once.
///
///     waiting   (time >> 10, key) → rows that the watermark has not passed, with their times; and
///               the times at which a match that has begun becomes too long (WITHIN)
///     begun     key → the matches that have begun, and their rows (`key_matches`)
///
/// A drain takes the rows of some keys of the oldest second. A key in which nothing has begun has
/// no state. Rows leave with the time at which their match was found.
/// @errors invalid_graph, type_mismatch  expressions that cannot be computed
result<std::unique_ptr<stream_operator>> make_match_operator(const graph::operator_node& node,
                                                             const operator_context& context);

} // namespace headrace::task
