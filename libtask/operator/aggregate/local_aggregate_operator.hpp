#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <memory>

namespace headrace::task {

/// The local phase of SQL's GROUP BY: sums up the rows of a batch by key, so that a key crosses the
/// exchange once a batch. The output has the key columns, and behind them the bytes of a group as
/// `group_cells` writes them, with the number of rows that came less those that went. What comes to
/// nothing is left out. No state: nothing stays from batch to batch.
/// @errors invalid_graph  calls that cannot be merged
result<std::unique_ptr<stream_operator>>
make_local_aggregate_operator(const graph::operator_node& node, const operator_context& context);

} // namespace headrace::task
