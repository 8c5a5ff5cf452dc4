#pragma once

#include "libgraph/spec/operator_spec.hpp"
#include "libgraph/types/logical_type.hpp"
#include "libactors/base/result.hpp"

#include <optional>
#include <string>

namespace headrace::graph {

/// A table function that repeats each row as often as its argument says. Not to be called in SQL.
inline constexpr const char* repeat_function = "$REPLICATE_ROWS";

/// What UNNEST gives of a collection: a row with the element (of an ARRAY or MULTISET, its fields
/// where it is a ROW) or with the key and the value of a MAP; then perhaps the place, an INT. Names
/// as Flink has them. Nothing for other types.
std::optional<logical_type> unnested_type(const logical_type& collection, bool has_ordinality);

/// Checks that arguments fit the function, and that the columns leave as they are. Pure.
/// @errors invalid_graph, type_mismatch
status check_correlate(const std::string& where, const correlate_spec& spec, const logical_type& in,
                       const logical_type& out);

} // namespace headrace::graph
