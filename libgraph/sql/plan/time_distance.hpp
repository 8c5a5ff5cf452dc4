#pragma once

#include "libgraph/sql/plan/logical_plan.hpp"

#include <optional>
#include <span>
#include <vector>

// How far apart a join lets the times of its sides be.
namespace headrace::sql {

/// No row comes any more whose column is at or before the watermark.
bool follows_watermarks(const plan_column& column);

/// The pairs of times, one of each input, whose distance is bounded on both sides.
/// @param condition  over the columns of both inputs
std::vector<join_time> find_distances(const plan_node& join, std::span<const join_key> keys,
                                      const std::optional<bound_expression>& condition);

/// Times that are still ones behind a join whose condition bounds their distance: those of the only
/// such pair, but for a side whose rows may be missing.
void keep_times(plan_node& join, const std::optional<bound_expression>& condition);

/// A join at or below `plan` that is told to keep times and does not, as its rows are updated;
/// null: there is none.
const plan_node* find_untimed(const plan_node& plan);

} // namespace headrace::sql
