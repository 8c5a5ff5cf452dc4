#pragma once

#include "libgraph/sql/bind/bound_expression.hpp"
#include "libgraph/sql/plan/logical_plan.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace headrace::sql {

using conditions = std::vector<bound_expression>;

/// The parts of an AND, or the whole.
conditions conjuncts(bound_expression of);
/// The AND of them; nothing of none.
std::optional<bound_expression> all_of(conditions parts);
/// Whether all columns that it names lie in [begin, end).
bool is_within(const bound_expression& in, std::size_t begin, std::size_t end);

/// Gives the columns in it the types that they have in `columns`: below an outer join fewer may be
/// NULL than above it.
void retype_columns(bound_expression& in, std::span<const plan_column> columns);

} // namespace headrace::sql
