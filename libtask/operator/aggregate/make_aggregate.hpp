#pragma once

#include "libtask/operator/operator_context.hpp"
#include "libgraph/function/function.hpp"
#include "libgraph/spec/operator_spec.hpp"

#include <memory>
#include <span>

namespace headrace::task {

/// Makes the function of an aggregation: the job's own, or the built-in calls over `input`, whose
/// results are rows of `output`.
/// @errors graph_mismatch, type_mismatch, invalid_graph
result<std::unique_ptr<graph::aggregate_function>>
make_aggregate(const graph::aggregation& wanted, const graph::logical_type& input,
               const graph::logical_type& output, std::span<const std::int32_t> key_columns,
               const operator_context& context);

} // namespace headrace::task
