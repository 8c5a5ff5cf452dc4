#pragma once

#include "libgraph/spec/operator_spec.hpp"
#include "libgraph/types/logical_type.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::graph {

/// Checks that aggregates can be carried out over rows of type `in`, so that a client learns it and
/// not a task. Pure.
/// @param where  of the operator, for the message
/// @param keys   the key columns: their values need no aggregate
/// @errors invalid_graph  no such column, or calls that do not go together
/// @errors type_mismatch  a sum of what is no number, or values that aggregates do not keep
status check_aggregation(const std::string& where, const aggregation& aggregates,
                         const std::vector<std::int32_t>& keys, const logical_type& in,
                         const logical_type& out);

/// Checks the calls of SQL's GROUP BY in the same way: functions that are known, with arguments and
/// results of types that go together.
/// @errors invalid_graph, type_mismatch
status check_group_aggregate(const std::string& where, const group_aggregate_spec& spec,
                             const logical_type& in, const logical_type& out);

} // namespace headrace::graph
