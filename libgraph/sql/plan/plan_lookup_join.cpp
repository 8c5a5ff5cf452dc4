#include "libgraph/sql/plan/conditions.hpp"
#include "libgraph/sql/plan/query_planner.hpp"

#include <algorithm>

// Joins with a table as it is when a row passes: FOR SYSTEM_TIME AS OF a processing time.
namespace headrace::sql {

/// The table itself: views and computed columns would have to be computed again for each reader.
std::optional<scan_node> query_planner::plan_lookup_table(const table_expression& from,
                                                          std::vector<plan_column>& columns,
                                                          std::string& label) {
  const auto* named = std::get_if<table_reference>(&from.node);
  if (named == nullptr)
    return unsupported("FOR SYSTEM_TIME AS OF is of a table", from.at);
  const auto found = find_relation(named->table);
  if (!found)
    return std::nullopt;
  auto rows = plan_relation(*found, named->hints, from.at);
  if (!rows)
    return std::nullopt;
  if (std::holds_alternative<watermark_node>(rows->node)) {
    auto below = std::move(rows->inputs[0]);
    *rows = std::move(below);
  }
  auto* scan = std::get_if<scan_node>(&rows->node);
  if (scan == nullptr)
    return unsupported("FOR SYSTEM_TIME AS OF is of a table without computed columns: " +
                           found->path.object,
                       from.at);
  label = from.alias ? from.alias->label.text : named->table.parts.back().text;
  if (from.alias && !from.alias->columns.empty() &&
      !rename_columns(rows->columns, from.alias->columns, from.alias->label.at))
    return std::nullopt;
  columns = rows->columns;
  for (auto& each : columns)
    each.time = time_kind::none;
  return std::move(*scan);
}

bool query_planner::is_processing_time(const expression& asked, const relation& input) {
  expression_binder binder(input.scope, findings_, &functions_);
  const auto bound = binder.bind(asked);
  if (!bound)
    return false;
  if (const auto* column = std::get_if<bound_column>(&bound->node))
    if (input.plan.columns[column->index].time == time_kind::processing_time)
      return true;
  if (const auto* call = std::get_if<bound_call>(&bound->node);
      call != nullptr && call->function == "PROCTIME")
    return true;
  return refuse("FOR SYSTEM_TIME AS OF takes a processing time: PROCTIME(), or a column of it; the "
                "versions of a table at a row time are not supported yet",
                asked.at);
}

std::optional<query_planner::relation> query_planner::plan_lookup_join(const join_table& from,
                                                                       source_span at) {
  auto left = plan_table(*from.left);
  std::vector<plan_column> columns;
  std::string label;
  auto table = plan_lookup_table(*from.right, columns, label);
  if (!left || !table || !is_processing_time(*from.right->system_time, *left))
    return std::nullopt;
  const bool is_left = from.kind == join_kind::left;
  if ((!is_left && from.kind != join_kind::inner) || !from.on)
    return unsupported("FOR SYSTEM_TIME AS OF is joined by JOIN or LEFT JOIN, with ON", at);

  const auto width = left->plan.columns.size();
  auto scope = left->scope;
  auto all = left->plan.columns;
  for (auto& each : columns) {
    if (is_left)
      each.type = each.type.nullable();
    scope.add(label, each.name, each.type);
    all.push_back(each);
  }
  auto condition = expression_binder(scope, findings_, &functions_).bind_condition(*from.on);
  if (!condition)
    return std::nullopt;

  lookup_join_node node;
  node.kind = is_left ? join_type::left : join_type::inner;
  node.table = std::move(*table);
  std::vector<bound_expression> added; // keys that are no columns of the input
  conditions stay;
  for (auto& each : conjuncts(std::move(*condition))) {
    auto* equal = std::get_if<bound_call>(&each.node);
    const bool is_equality = equal != nullptr && equal->function == "=";
    const auto table_side = [&]() -> std::optional<std::size_t> {
      for (std::size_t i = 0; is_equality && i < 2; ++i)
        if (const auto* column = std::get_if<bound_column>(&equal->arguments[i].node);
            column != nullptr && column->index >= width &&
            is_within(equal->arguments[1 - i], 0, width))
          return i;
      return std::nullopt;
    }();
    if (!table_side) {
      stay.push_back(std::move(each));
      continue;
    }
    auto value = std::move(equal->arguments[1 - *table_side]);
    const auto right = std::get<bound_column>(equal->arguments[*table_side].node).index - width;
    if (const auto* column = std::get_if<bound_column>(&value.node)) {
      node.keys.push_back({column->index, right, false});
    } else {
      node.keys.push_back({width + added.size(), right, false});
      added.push_back(std::move(value));
    }
  }
  if (node.keys.empty())
    return unsupported("FOR SYSTEM_TIME AS OF is joined by a column of the table: ON … = " + label +
                           ".column, of its type (CAST what it is compared with)",
                       at);
  for (auto& each : stay)
    visit_columns(each, [&](bound_column& column) {
      column.index += column.index >= width ? added.size() : 0;
    });
  node.condition = all_of(std::move(stay));

  relation out;
  out.scope = std::move(scope);
  const auto shift = added.size();
  if (shift > 0) {
    auto items = identity_items(left->plan.columns);
    std::vector<std::string> names;
    for (const auto& each : left->plan.columns)
      names.push_back(each.name);
    for (auto& each : added) {
      names.push_back("$l" + std::to_string(items.size() - width));
      items.push_back(std::move(each));
    }
    left->plan = projected(std::move(left->plan), std::move(items), std::move(names));
  }
  out.plan.at = at;
  out.plan.columns = left->plan.columns;
  out.plan.columns.insert(out.plan.columns.end(), all.begin() + static_cast<std::ptrdiff_t>(width),
                          all.end());
  out.plan.node = std::move(node);
  out.plan.inputs.push_back(std::move(left->plan));
  if (shift > 0) {
    std::vector<bound_expression> items;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < all.size(); ++i) {
      items.push_back({bound_column{i < width ? i : i + shift}, all[i].type, {}});
      names.push_back(all[i].name);
    }
    out.plan = projected(std::move(out.plan), std::move(items), std::move(names));
  }
  return out;
}

} // namespace headrace::sql
