#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <memory>

namespace headrace::task {

/// Joins each row with those that a table function makes of it: SQL's UNNEST and LATERAL TABLE.
/// Rows keep their order, kinds and timestamps.
/// @errors invalid_graph, type_mismatch  expressions that do not fit the input
result<std::unique_ptr<stream_operator>> make_correlate_operator(const graph::operator_node& node,
                                                                 const operator_context& context);

} // namespace headrace::task
