#pragma once

#include "libgraph/sql/plan/logical_plan.hpp"

namespace headrace::sql {

/// The operator nearest to the sink for whose sake rows are updates and deletions, too; null: all
/// rows are inserts, which stay.
const plan_node* find_updating(const plan_node& plan);

/// Whether the operator by itself, over rows that only come, would update what it gave in a stream,
/// or has all its rows to give any (ORDER BY). Of tables their format says it.
bool would_update(const plan_node& plan);

/// The plan as `to_string`, each line with what kinds of rows it gives:
/// "changelogMode=[I,UB,UA,D]".
std::string to_string_with_changes(const plan_node& plan);

} // namespace headrace::sql
