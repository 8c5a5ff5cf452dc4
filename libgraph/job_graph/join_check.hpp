#pragma once

#include "libgraph/spec/operator_spec.hpp"
#include "libgraph/types/logical_type.hpp"
#include "libactors/base/result.hpp"

#include <string>

namespace headrace::graph {

/// The columns that a join's condition is over: the left ones, then the right ones.
logical_type joined_type(const logical_type& left, const logical_type& right);

/// Checks that a join can be carried out, whose key columns are in range. Pure.
/// @param where  of the operator, for the message
/// @errors invalid_graph  keys that do not go together, or a condition that cannot be computed
/// @errors type_mismatch  keys of different types, an output that is not of both inputs' columns,
///         or does not let columns of a missing row be NULL
status check_join(const std::string& where, const join_spec& spec, const logical_type& left,
                  const logical_type& right, const logical_type& out);

/// Of a timed join, whose join is sound and whose time columns are in range.
/// @errors invalid_graph, type_mismatch
status check_timed_join(const std::string& where, const timed_join_spec& spec,
                        const logical_type& left, const logical_type& right);

/// Of a lookup join, whose columns are in range, `table_key_columns` excepted.
/// @errors invalid_graph, type_mismatch
status check_lookup_join(const std::string& where, const lookup_join_spec& spec,
                         const logical_type& in, const logical_type& out);

} // namespace headrace::graph
