#include "libgraph/sql/optimize/changelog.hpp"
#include "libgraph/sql/optimize/optimizer.hpp"
#include "libgraph/sql/plan/query_planner.hpp"

#include <algorithm>

namespace headrace::sql {
namespace {

/// The windows that rows come from; null: they come from none, or not in the order of their times.
const window_aggregate_node* windows_of(const plan_node& input) {
  if (find_updating(input) != nullptr)
    return nullptr;
  const auto* base = &input;
  while (std::holds_alternative<calc_node>(base->node))
    base = &base->inputs[0];
  const auto* windows = std::get_if<window_aggregate_node>(&base->node);
  if (windows == nullptr || windows->carried ||
      (windows->shape.kind != window_function::tumble &&
       windows->shape.kind != window_function::hop))
    return nullptr;
  // Over windows of windows the length of the first ones is not told any more.
  const auto& time = base->inputs[0].columns[windows->shape.time_column];
  return time.type.root() == type_root::timestamp && !time.window ? windows : nullptr;
}

/// The ends of windows lie a slide apart: over their rows, each as late as its window, windows of
/// that size are the same.
std::optional<plan_node> form(const plan_node& plan) {
  const auto& grouped = std::get<aggregate_node>(plan.node);
  const auto& input = plan.inputs[0];
  const auto* windows = windows_of(input);
  if (windows == nullptr || !are_simple(grouped.items))
    return std::nullopt;
  const auto key_of = [&](window_property wanted) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < grouped.key_count; ++i)
      if (input.columns[i].window == wanted)
        return i;
    return std::nullopt;
  };
  const auto end = key_of(window_property::end);
  if (!end || !key_of(window_property::start))
    return std::nullopt;
  const bool is_hop = windows->shape.kind == window_function::hop;
  window_aggregate_node made;
  made.items = grouped.items;
  made.late = grouped.late;
  made.shape.time_column = *end;
  made.shape.size_ms = is_hop ? windows->shape.slide_ms : windows->shape.size_ms;
  made.shape.offset_ms = windows->shape.offset_ms;

  plan_node out;
  out.at = plan.at;
  std::vector<bound_expression> back(plan.columns.size());
  const auto add = [&](std::size_t old) {
    back[old] = {bound_column{out.columns.size()}, plan.columns[old].type, {}};
    out.columns.push_back(plan.columns[old]);
  };
  for (std::size_t i = 0; i < grouped.key_count; ++i)
    if (!input.columns[i].window) {
      made.keys.push_back(i);
      add(i);
    }
  for (std::size_t i = 0; i < grouped.key_count; ++i) {
    const auto property = input.columns[i].window;
    if (!property || (is_hop && *property == window_property::start))
      continue;
    made.properties.push_back(*property);
    add(i);
  }
  for (std::size_t i = 0; is_hop && i < grouped.key_count; ++i)
    if (input.columns[i].window == window_property::start)
      back[i] = earlier(back[*end], windows->shape.size_ms);
  for (auto i = grouped.key_count; i < plan.columns.size(); ++i)
    add(i);
  out.node = std::move(made);
  out.inputs.push_back(input);
  std::vector<std::string> written;
  for (const auto& each : plan.columns)
    written.push_back(each.name);
  auto whole = projected(std::move(out), std::move(back), std::move(written));
  whole.columns = plan.columns;
  return whole;
}

} // namespace

bound_expression earlier(bound_expression time, std::int64_t by_ms) {
  constexpr std::int64_t second_ms = 1000;
  auto fraction = std::to_string(second_ms + by_ms % second_ms);
  fraction[0] = '.';
  bound_constant length;
  length.text = std::to_string(by_ms / second_ms) + fraction;
  length.interval.emplace();
  const auto type = time.type;
  const auto at = time.at;
  bound_call out;
  out.function = "-";
  out.arguments.push_back(std::move(time));
  out.arguments.push_back({std::move(length), logical_type::interval_day_time().not_null(), at});
  return {std::move(out), type, at};
}

plan_node form_cascaded_windows(plan_node plan) {
  for (auto& each : plan.inputs)
    each = form_cascaded_windows(std::move(each));
  if (std::holds_alternative<aggregate_node>(plan.node))
    if (auto made = form(plan))
      return std::move(*made);
  return plan;
}

} // namespace headrace::sql
