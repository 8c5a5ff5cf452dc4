#include "libgraph/sql/optimize/optimizer.hpp"
#include "libgraph/sql/plan/query_planner.hpp"

#include <algorithm>

namespace headrace::sql {
namespace {

/// What an aggregate over a window function, perhaps with a calc between, is made of.
struct window_parts {
  std::optional<bound_expression> condition;
  std::vector<bound_expression> items; ///< of the aggregate's input, over the window's columns
  const plan_node* window = nullptr;
};

std::optional<window_parts> find_parts(const plan_node& input) {
  window_parts out;
  if (const auto* calc = std::get_if<calc_node>(&input.node)) {
    out.condition = calc->condition;
    out.items = calc->items;
    out.window = &input.inputs[0];
  } else {
    out.items = identity_items(input.columns);
    out.window = &input;
  }
  const auto* window = std::get_if<window_node>(&out.window->node);
  if (window == nullptr || window->shape.kind == window_function::session)
    return std::nullopt;
  return out;
}

bool is_below(const bound_expression& in, std::size_t width) {
  bool out = true;
  visit_columns(in, [&](const bound_column& column) { out &= column.index < width; });
  return out;
}

std::optional<plan_node> form(const plan_node& plan) {
  const auto& grouped = std::get<aggregate_node>(plan.node);
  auto parts = find_parts(plan.inputs[0]);
  if (!parts)
    return std::nullopt;
  const auto& below = parts->window->inputs[0];
  const auto width = below.columns.size();
  const auto property_of = [&](const bound_expression& item) -> std::optional<window_property> {
    const auto* column = std::get_if<bound_column>(&item.node);
    if (column == nullptr || column->index < width)
      return std::nullopt;
    return parts->window->columns[column->index].window;
  };
  window_aggregate_node made;
  made.shape = std::get<window_node>(parts->window->node).shape;
  made.items = grouped.items;
  std::vector<bool> is_window_key(grouped.key_count, false);
  std::vector<bound_expression> items; // of the calc below the aggregate
  std::vector<std::string> names;
  std::vector<std::size_t> moved(parts->items.size(), 0);
  bool has_start = false;
  bool has_end = false;
  for (std::size_t i = 0; i < parts->items.size(); ++i) {
    auto& item = parts->items[i];
    const auto property = property_of(item);
    if (property && i < grouped.key_count) {
      has_start |= *property == window_property::start;
      has_end |= *property == window_property::end;
      made.properties.push_back(*property);
      is_window_key[i] = true;
      continue;
    }
    if (!is_below(item, width))
      return std::nullopt;
    moved[i] = items.size();
    if (i < grouped.key_count)
      made.keys.push_back(items.size());
    names.push_back(plan.inputs[0].columns[i].name);
    items.push_back(std::move(item));
  }
  if (!has_start || !has_end || (parts->condition && !is_below(*parts->condition, width)))
    return std::nullopt;
  for (auto& each : made.items) {
    for (auto& argument : each.arguments)
      argument = moved[argument];
    if (each.filter)
      each.filter = moved[*each.filter];
  }
  const auto& time = below.columns[made.shape.time_column];
  items.push_back({bound_column{made.shape.time_column}, time.type, {}});
  names.push_back(time.name);
  made.shape.time_column = items.size() - 1;

  // The plain keys, the window's, the results; from there back to the order that was written.
  plan_node out;
  out.at = plan.at;
  std::vector<bound_expression> back(plan.columns.size());
  const auto add = [&](std::size_t old) {
    back[old] = {bound_column{out.columns.size()}, plan.columns[old].type, {}};
    out.columns.push_back(plan.columns[old]);
  };
  for (const bool of_window : {false, true})
    for (std::size_t i = 0; i < grouped.key_count; ++i)
      if (is_window_key[i] == of_window)
        add(i);
  for (auto i = grouped.key_count; i < plan.columns.size(); ++i)
    add(i);
  auto rows = below;
  if (parts->condition)
    rows = filtered(std::move(rows), std::move(*parts->condition));
  out.node = std::move(made);
  out.inputs.push_back(projected(std::move(rows), std::move(items), std::move(names)));
  std::vector<std::string> written;
  for (const auto& each : plan.columns)
    written.push_back(each.name);
  return merge_calcs(projected(std::move(out), std::move(back), std::move(written)));
}

} // namespace

plan_node form_window_aggregates(plan_node plan) {
  for (auto& each : plan.inputs)
    each = form_window_aggregates(std::move(each));
  if (std::holds_alternative<aggregate_node>(plan.node))
    if (auto made = form(plan))
      return std::move(*made);
  return plan;
}

} // namespace headrace::sql
