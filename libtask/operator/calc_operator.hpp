#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <memory>

namespace headrace::task {

/// Keeps the rows for which a condition is TRUE and computes columns of them: SQL's WHERE and
/// SELECT list. Rows keep their order, kinds and timestamps.
/// @errors invalid_graph, type_mismatch  expressions that do not fit the input
result<std::unique_ptr<stream_operator>> make_calc_operator(const graph::operator_node& node,
                                                            const operator_context& context);

} // namespace headrace::task
