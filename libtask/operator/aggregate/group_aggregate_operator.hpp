#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <memory>

namespace headrace::task {

/// SQL's GROUP BY over a changelog: keeps a row a key and emits how it changes, row by row of the
/// input. The first row of a group is emitted as +I; later ones as -U with the old and +U with the
/// new results, or not at all when nothing changed; the last one that is taken back as -D. A row
/// that is taken back from a group that is not there (it expired) is dropped.
///
/// With a time to live, a group that was not written for so long is as if it had never been; a
/// changed group is then also emitted when its results stay, so that who is downstream keeps it.
///
/// With a mini-batch a group is told once a bundle: what its rows come to. As a local phase it has
/// no state, and sums up a batch; as a global one it merges these sums.
/// @errors invalid_graph  more aggregates than fit into the state's row, or phases of calls that
///                        cannot be merged
result<std::unique_ptr<stream_operator>>
make_group_aggregate_operator(const graph::operator_node& node, const operator_context& context);

} // namespace headrace::task
