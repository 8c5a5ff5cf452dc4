#include "libgraph/sql/optimize/changelog.hpp"
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
  return std::holds_alternative<window_node>(out.window->node) ? std::optional(out) : std::nullopt;
}

/// Values that the operator keeps of a group that finds the windows itself.
constexpr std::size_t simple_items_max = 32;

/// What one operator computes that finds the windows itself: of a few kinds of windows and calls.
bool is_simple(const aggregate_node& grouped, const window_shape& shape) {
  if (shape.kind > window_function::hop || shape.is_processing_time || shape.is_zoned)
    return false;
  return are_simple(grouped.items);
}

/// Whether the time that rows go along with is that of their only time attribute: a join gives two,
/// and what waits for the end of its input another one.
bool has_one_time(const plan_node& rows) {
  if (std::holds_alternative<watermark_node>(rows.node))
    return true;
  return !std::holds_alternative<join_node>(rows.node) && !rows.traits.is_final &&
         std::all_of(rows.inputs.begin(), rows.inputs.end(), has_one_time);
}

bool is_below(const bound_expression& in, std::size_t width) {
  bool out = true;
  visit_columns(in, [&](const bound_column& column) { out &= column.index < width; });
  return out;
}

/// The plain keys, the window's, the results; from there back to the order that was written.
plan_node arranged(const plan_node& plan, const std::vector<bool>& is_window_key,
                   window_aggregate_node made, plan_node rows) {
  const auto key_count = is_window_key.size();
  plan_node out;
  out.at = plan.at;
  std::vector<bound_expression> back(plan.columns.size());
  const auto add = [&](std::size_t old) {
    back[old] = {bound_column{out.columns.size()}, plan.columns[old].type, {}};
    out.columns.push_back(plan.columns[old]);
  };
  for (const bool of_window : {false, true})
    for (std::size_t i = 0; i < key_count; ++i)
      if (is_window_key[i] == of_window)
        add(i);
  for (auto i = key_count; i < plan.columns.size(); ++i)
    add(i);
  out.node = std::move(made);
  out.inputs.push_back(std::move(rows));
  std::vector<std::string> written;
  for (const auto& each : plan.columns)
    written.push_back(each.name);
  return merge_calcs(projected(std::move(out), std::move(back), std::move(written)));
}

/// The window function right below: what is aggregated is computed below it.
std::optional<plan_node> form_over_function(const plan_node& plan) {
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
  const auto& window = std::get<window_node>(parts->window->node);
  made.shape = window.shape;
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
  for (const auto each : grouped.late)
    made.late.push_back(moved[each]);
  const auto& time = below.columns[made.shape.time_column];
  items.push_back({bound_column{made.shape.time_column}, time.type, {}});
  names.push_back(time.name);
  made.shape.time_column = items.size() - 1;

  // Rows of one session stay together.
  std::vector<std::size_t> partition;
  for (const auto each : window.partition) {
    const bound_expression key{bound_column{each}, below.columns[each].type, {}};
    const auto same = std::find(items.begin(), items.end(), key);
    partition.push_back(static_cast<std::size_t>(same - items.begin()));
    if (same == items.end()) {
      names.push_back(below.columns[each].name);
      items.push_back(key);
    }
  }
  auto rows = below;
  if (parts->condition)
    rows = filtered(std::move(rows), std::move(*parts->condition));
  const auto inner = items.size();
  rows = projected(std::move(rows), std::move(items), std::move(names));
  if (!is_simple(grouped, made.shape) || !has_one_time(below)) {
    rows = windowed(std::move(rows), {made.shape, std::move(partition)}, plan.at);
    made.carried = carried_bounds{inner, inner + 1};
    made.shape.time_column = 0;
  }
  return arranged(plan, is_window_key, std::move(made), std::move(rows));
}

/// Over any rows that carry their windows: results of windows, ranked ones, sessions.
std::optional<plan_node> form_over_bounds(const plan_node& plan) {
  const auto& grouped = std::get<aggregate_node>(plan.node);
  const auto& input = plan.inputs[0];
  const auto* shape = find_shape(input);
  if (shape == nullptr || find_updating(input) != nullptr)
    return std::nullopt;
  window_aggregate_node made;
  made.shape = *shape;
  made.shape.time_column = 0;
  made.items = grouped.items;
  made.late = grouped.late;
  std::optional<std::size_t> start;
  std::optional<std::size_t> end;
  std::vector<bool> is_window_key(grouped.key_count, false);
  for (std::size_t i = 0; i < grouped.key_count; ++i) {
    const auto property = input.columns[i].window;
    if (!property) {
      made.keys.push_back(i);
      continue;
    }
    is_window_key[i] = true;
    made.properties.push_back(*property);
    if (*property == window_property::start)
      start = i;
    if (*property == window_property::end)
      end = i;
  }
  if (!start || !end)
    return std::nullopt;
  made.carried = carried_bounds{*start, *end};
  return arranged(plan, is_window_key, std::move(made), input);
}

} // namespace

bool are_simple(const std::vector<aggregate_item>& items) {
  // An average is a sum and a count.
  const auto averages = std::count_if(items.begin(), items.end(), [](const aggregate_item& each) {
    return each.function == "AVG";
  });
  if (items.size() + static_cast<std::size_t>(averages) > simple_items_max)
    return false;
  return std::all_of(items.begin(), items.end(), [](const aggregate_item& each) {
    const bool is_known = each.function == "COUNT" || each.function == "SUM" ||
                          each.function == "AVG" || each.function == "MIN" ||
                          each.function == "MAX";
    return is_known && !each.is_distinct && each.arguments.size() <= 1;
  });
}

const window_shape* find_shape(const plan_node& plan) {
  if (const auto* window = std::get_if<window_node>(&plan.node))
    return &window->shape;
  if (const auto* windows = std::get_if<window_aggregate_node>(&plan.node))
    return &windows->shape;
  for (const auto& each : plan.inputs)
    if (const auto* found = find_shape(each))
      return found;
  return nullptr;
}

plan_node form_window_aggregate(plan_node plan) {
  if (std::holds_alternative<aggregate_node>(plan.node))
    for (auto* form : {form_over_function, form_over_bounds})
      if (auto made = form(plan))
        return std::move(*made);
  return plan;
}

} // namespace headrace::sql
