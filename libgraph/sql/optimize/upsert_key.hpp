#pragma once

#include "libgraph/sql/plan/logical_plan.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace headrace::sql {

/// Columns of a plan that no two of its rows have alike at any time, so that what they name is
/// updated: of a group its keys, of a join those of both sides. Nothing: none is known.
std::optional<std::vector<std::size_t>> find_upsert_key(const plan_node& plan);

} // namespace headrace::sql
