#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <memory>

namespace headrace::task {

/// SQL's regular join of two changelogs: keeps the rows of both sides, and emits for each row that
/// comes or goes the joined rows that come or go with it, with its kind. Equal rows count as often
/// as they came. A key with NULL matches nothing, unless NULL equals NULL for it.
///
/// A row of an outer side without a match is emitted with NULLs; its first match takes that row
/// back (-D) and the last one that goes gives it again (+I). A semi join emits a left row once it
/// has a match, and takes it back with the last one; an anti join the other way round.
///
/// A batch is taken whole: the rows of the other side are looked up for all keys at once, the
/// condition is computed over the pairs, whole batches are emitted. Many pairs are emitted in
/// pieces, one a `drain`.
///
/// With a time to live, a row is not joined any more so long after it came. Zeros and NaNs of
/// stored rows come out as keys have them: -0.0 as 0.0.
/// @errors what the condition's program gives
result<std::unique_ptr<stream_operator>> make_join_operator(const graph::operator_node& node,
                                                            const operator_context& context);

} // namespace headrace::task
