#pragma once

#include "libgraph/spec/operator_spec.hpp"
#include "libgraph/types/logical_type.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
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

/// Checks that what is gathered is bounded, in number and in time.
/// @errors invalid_graph
status check_mini_batch(const std::string& where, const mini_batch_spec& spec);

/// Checks calls alone: each gives the column of `out` from `first` on that it stands for.
/// @errors invalid_graph, type_mismatch
status check_group_calls(const std::string& where, const std::vector<group_aggregate_call>& calls,
                         const logical_type& in, const logical_type& out, std::size_t first);

/// Checks that what calls keep of a group fits into one value.
/// @param retracts  rows are taken back from the groups
/// @errors invalid_graph
status check_group_size(const std::string& where, const std::vector<group_aggregate_call>& calls,
                        const logical_type& in, bool retracts);

/// Whether the built-in aggregate keeps all values of a group, by its name in capitals: it has a
/// state of its own, and cannot be merged.
bool lists_values(std::string_view function);

/// Checks the sizes of windows of any kind.
/// @errors invalid_graph
status check_window(const std::string& where, const window_spec& window);
/// Check SQL's windows, and OVER: columns that there are, of types that fit; what leaves.
/// @errors invalid_graph, type_mismatch
status check_window_table(const std::string& where, const window_table_spec& spec,
                          const logical_type& in, const logical_type& out);
status check_window_group(const std::string& where, const window_group_spec& spec,
                          const logical_type& in, const logical_type& out);
status check_session_group(const std::string& where, const session_group_spec& spec,
                           const logical_type& in, const logical_type& out);
status check_over(const std::string& where, const over_spec& spec, const logical_type& in,
                  const logical_type& out);

/// Checks a further key that spreads rows.
/// @errors invalid_graph, type_mismatch
status check_salt(const std::string& where, const salt_spec& spec, const logical_type& in,
                  const logical_type& out);

/// Checks SQL's Top-N: columns that have an order, ranks that there are, the input's rows as they
/// leave.
/// @errors invalid_graph, type_mismatch
status check_rank(const std::string& where, const rank_spec& spec, const logical_type& in,
                  const logical_type& out);
/// Checks that columns are there, and have an order.
/// @errors invalid_graph, type_mismatch
status check_order(const std::string& where, const std::vector<order_column>& order,
                   const logical_type& in);
/// Checks that a column is a time.
/// @errors invalid_graph
status check_time(const std::string& where, std::int32_t column, const logical_type& in);

/// Checks SQL's MATCH_RECOGNIZE: variables and columns that there are, conditions and measures that
/// can be computed.
/// @errors invalid_graph, type_mismatch
status check_match(const std::string& where, const match_spec& spec, const logical_type& in,
                   const logical_type& out);

} // namespace headrace::graph
