#pragma once

#include "libgraph/sql/plan/logical_plan.hpp"

#include <cstddef>

// Batch mode: of tables that end a query gives its last rows alone, each once.
//
//     in a stream   GroupAggregate  →  +I(a, 1)  -U(a, 1)  +U(a, 2)  …
//     in a batch    GroupAggregate(emit=[end of input])  →  +I(a, 2)
//
// All rows are in one window, which is over when the input has ended: operators that would update
// rows are those of windows. No row is ever taken back, so that whatever takes inserts only may
// come behind them.
namespace headrace::sql {

/// Marks an operator, over inputs that are marked already, if it would update rows.
void make_final(plan_node& plan);

/// Whether an input's updates are what is asked for: versions, each from its time on.
bool has_versions(const plan_node& plan, std::size_t input);

/// What an operator that is marked comes to: the same rows and columns by one window over all.
plan_node over_one_window(const plan_node& plan);

} // namespace headrace::sql
