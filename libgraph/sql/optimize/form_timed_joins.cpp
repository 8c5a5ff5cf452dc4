#include "libgraph/sql/optimize/changelog.hpp"
#include "libgraph/sql/optimize/final_rows.hpp"
#include "libgraph/sql/optimize/optimizer.hpp"
#include "libgraph/sql/plan/time_distance.hpp"

namespace headrace::sql {
namespace {

/// Both starts and both ends of windows are equal.
std::optional<join_time> window_of(const plan_node& plan, const std::vector<join_key>& keys) {
  const auto find = [&](window_property wanted) -> const join_key* {
    for (const auto& each : keys)
      if (!each.is_null_safe && plan.inputs[0].columns[each.left].window == wanted &&
          plan.inputs[1].columns[each.right].window == wanted)
        return &each;
    return nullptr;
  };
  const auto* end = find(window_property::end);
  if (end == nullptr || find(window_property::start) == nullptr ||
      !follows_watermarks(plan.inputs[0].columns[end->left]) ||
      !follows_watermarks(plan.inputs[1].columns[end->right]))
    return std::nullopt;
  return join_time{true, end->left, end->right, 0, 0};
}

std::optional<join_time> time_of(const plan_node& plan, const join_node& join) {
  if (find_updating(plan.inputs[0]) != nullptr || find_updating(plan.inputs[1]) != nullptr)
    return std::nullopt;
  if (auto by_window = window_of(plan, *join.keys))
    return by_window;
  if (join.kind == join_type::semi || join.kind == join_type::anti)
    return std::nullopt;
  const auto found = find_distances(plan, *join.keys, join.condition);
  return found.empty() ? std::nullopt : std::optional(found[0]);
}

} // namespace

plan_node form_timed_joins(plan_node plan, bool is_batch) {
  for (std::size_t i = 0; i < plan.inputs.size(); ++i)
    plan.inputs[i] =
        form_timed_joins(std::move(plan.inputs[i]), is_batch && !has_versions(plan, i));
  if (auto* join = std::get_if<join_node>(&plan.node); join != nullptr && join->keys)
    join->time = time_of(plan, *join);
  if (is_batch)
    make_final(plan);
  return plan;
}

} // namespace headrace::sql
