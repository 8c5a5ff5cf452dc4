#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <memory>

namespace headrace::task {

/// Joins rows by their times: a `graph::timed_join_spec`.
///
/// By windows: the rows of both sides wait until the watermark passes the end of their window, are
/// joined then, and dropped; rows that come later are dropped and counted. By distance: a row is
/// joined with those that are there when it comes, and dropped when the watermark tells that no row
/// may come any more that lies near enough; a row of an outer side that has matched none leaves
/// with NULLs then. Both take rows that only come, and what leaves only comes, too. With versions:
/// a left row waits until the watermark has passed it, and is joined with the right row of its key
/// that was the last one at its time; of right rows the last one before the watermark stays, and
/// those behind it. Many rows leave in pieces, one a `drain`.
/// @errors what the condition's program gives
result<std::unique_ptr<stream_operator>> make_timed_join_operator(const graph::operator_node& node,
                                                                  const operator_context& context);

} // namespace headrace::task
