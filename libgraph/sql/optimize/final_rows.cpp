#include "libgraph/sql/optimize/final_rows.hpp"

#include "libgraph/sql/optimize/changelog.hpp"
#include "libgraph/sql/plan/over.hpp"
#include "libgraph/sql/plan/query_planner.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace headrace::sql {
namespace {

/// No watermark reaches it but the last one: in batch mode there are no others.
constexpr auto end_of_all = "9999-12-31 23:59:59.999";

const logical_type& end_type() {
  static const auto type = logical_type::timestamp(3).not_null();
  return type;
}

std::vector<std::string> names_of(const std::vector<plan_column>& columns) {
  std::vector<std::string> out;
  for (const auto& each : columns)
    out.push_back(each.name);
  return out;
}

bound_expression constant(std::optional<std::string> text, logical_type type) {
  return {bound_constant{std::move(text), std::nullopt}, std::move(type), {}};
}

/// The end of the window behind the columns.
plan_node with_end(plan_node rows) {
  auto items = identity_items(rows.columns);
  items.push_back(constant(end_of_all, end_type()));
  auto names = names_of(rows.columns);
  names.emplace_back("$end");
  return projected(std::move(rows), std::move(items), std::move(names));
}

/// Some columns, which are `wanted`.
plan_node chosen(plan_node rows, const std::vector<std::size_t>& columns,
                 const std::vector<plan_column>& wanted) {
  std::vector<bound_expression> items;
  for (const auto each : columns)
    items.push_back({bound_column{each}, rows.columns[each].type, {}});
  auto out = projected(std::move(rows), std::move(items), names_of(wanted));
  out.columns = wanted;
  return out;
}

plan_node with_node(const plan_node& plan, decltype(plan_node::node) node,
                    std::vector<plan_column> columns) {
  plan_node out;
  out.at = plan.at;
  out.node = std::move(node);
  out.columns = std::move(columns);
  return out;
}

/// Without keys there is a result of no rows, too: one more row, which no call takes, makes the
/// group. Behind the columns is whether a row is of the input.
plan_node with_one_more(plan_node rows) {
  const auto flag = logical_type::boolean().not_null();
  const auto names = [&] {
    auto out = names_of(rows.columns);
    out.emplace_back("$real");
    return out;
  }();
  auto columns = rows.columns;
  values_node none;
  none.rows.emplace_back();
  for (auto& each : columns) {
    each.type = each.type.nullable();
    none.rows[0].push_back(constant(std::nullopt, each.type));
  }
  none.rows[0].push_back(constant("FALSE", flag));
  columns.push_back({"$real", flag, time_kind::none, std::nullopt});
  auto items = identity_items(rows.columns);
  items.push_back(constant("TRUE", flag));
  auto out = with_node(rows, set_node{set_operator::union_, true}, columns);
  auto one = with_node(rows, std::move(none), std::move(columns));
  out.inputs.push_back(projected(std::move(rows), std::move(items), names));
  out.inputs.push_back(std::move(one));
  return out;
}

plan_node over_window(const aggregate_node& node, const plan_node& plan) {
  auto rows = plan.inputs[0];
  window_aggregate_node made;
  made.items = node.items;
  made.keys.resize(node.key_count);
  std::iota(made.keys.begin(), made.keys.end(), std::size_t{0});
  if (node.key_count == 0) {
    const auto real = rows.columns.size();
    for (auto& each : made.items)
      each.filter = each.filter.value_or(real); // of the row that is added no filter is true
    rows = with_one_more(std::move(rows));
  }
  const auto end = rows.columns.size();
  made.carried = carried_bounds{end, end};
  auto out = with_node(plan, std::move(made), plan.columns);
  out.inputs.push_back(with_end(std::move(rows)));
  return out;
}

plan_node over_window(join_node node, const plan_node& plan) {
  const auto left = plan.inputs[0].columns.size();
  const auto right = plan.inputs[1].columns.size();
  node.time = join_time{true, left, right, 0, 0};
  const auto behind_end = [&](std::size_t column) { return column + (column >= left ? 1 : 0); };
  if (node.condition)
    visit_columns(*node.condition,
                  [&](bound_column& column) { column.index = behind_end(column.index); });
  const plan_column end{"$end", end_type().nullable(), time_kind::none, std::nullopt};
  auto columns = plan.columns;
  columns.insert(columns.begin() + static_cast<std::ptrdiff_t>(left), end);
  if (plan.columns.size() > left)
    columns.push_back(end);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < plan.columns.size(); ++i)
    kept.push_back(behind_end(i));
  auto out = with_node(plan, std::move(node), std::move(columns));
  for (const auto& each : plan.inputs)
    out.inputs.push_back(with_end(each));
  return chosen(std::move(out), kept, plan.columns);
}

plan_node over_window(rank_node node, const plan_node& plan) {
  const auto width = plan.inputs[0].columns.size();
  node.window_end = width;
  node.partition.push_back(width);
  auto rows = with_end(plan.inputs[0]);
  auto columns = rows.columns;
  std::vector<std::size_t> kept(width);
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  if (node.outputs_rank) {
    columns.push_back(plan.columns.back());
    kept.push_back(width + 1);
  }
  auto out = with_node(plan, std::move(node), std::move(columns));
  out.inputs.push_back(std::move(rows));
  return chosen(std::move(out), kept, plan.columns);
}

plan_node over_window(const sort_node& node, const plan_node& plan) {
  constexpr auto all = std::numeric_limits<std::int64_t>::max();
  rank_node ranks;
  ranks.order = node.keys;
  ranks.first = node.offset + 1;
  ranks.last = !node.limit || *node.limit > all - node.offset ? all : node.offset + *node.limit;
  return over_window(std::move(ranks), plan);
}

plan_node over_window(over_node node, const plan_node& plan) {
  const auto width = plan.inputs[0].columns.size();
  node.window_end = width;
  auto rows = with_end(plan.inputs[0]);
  auto columns = rows.columns;
  columns.insert(columns.end(), plan.columns.begin() + static_cast<std::ptrdiff_t>(width),
                 plan.columns.end());
  std::vector<std::size_t> kept(plan.columns.size());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  for (auto i = width; i < kept.size(); ++i)
    ++kept[i]; // behind the end
  auto out = with_node(plan, std::move(node), std::move(columns));
  out.inputs.push_back(std::move(rows));
  return chosen(std::move(out), kept, plan.columns);
}

/// Whether a row has its results only when all rows are there.
bool waits_for_all(const plan_node& plan) {
  const auto* over = std::get_if<over_node>(&plan.node);
  return over != nullptr && (!is_over_time(*over, plan.inputs[0]) || !ends_with_row(*over) ||
                             !std::all_of(over->items.begin(), over->items.end(), runs_with_row));
}

template <class Other>
plan_node over_window(const Other& /*is never marked*/, const plan_node& plan) {
  return plan;
}

} // namespace

void make_final(plan_node& plan) {
  plan.traits.is_final =
      !std::holds_alternative<scan_node>(plan.node) && (would_update(plan) || waits_for_all(plan));
}

bool has_versions(const plan_node& plan, std::size_t input) {
  return input == 1 && std::holds_alternative<version_join_node>(plan.node);
}

plan_node over_one_window(const plan_node& plan) {
  return std::visit([&](const auto& node) { return over_window(node, plan); }, plan.node);
}

} // namespace headrace::sql
