#include "libgraph/sql/plan/conditions.hpp"
#include "libgraph/sql/plan/query_planner.hpp"

#include <algorithm>

// Joins with a table as it is when a row passes, or as it was at the row's time: FOR SYSTEM_TIME AS
// OF.
namespace headrace::sql {
namespace {

/// What a condition says of an input and a table behind it.
struct temporal_condition {
  std::vector<join_key> keys;           ///< of the input, with `added` behind it, and the table
  std::vector<bound_expression> added;  ///< keys that are no columns of the input
  std::optional<bound_expression> rest; ///< over the input, `added`, and the table
};

/// Takes the equalities with columns of the table out of a condition.
/// @param width  columns of the input
temporal_condition take_keys(bound_expression condition, std::size_t width) {
  temporal_condition out;
  conditions stay;
  for (auto& each : conjuncts(std::move(condition))) {
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
      out.keys.push_back({column->index, right, false});
    } else {
      out.keys.push_back({width + out.added.size(), right, false});
      out.added.push_back(std::move(value));
    }
  }
  for (auto& each : stay)
    visit_columns(each, [&](bound_column& column) {
      column.index += column.index >= width ? out.added.size() : 0;
    });
  out.rest = all_of(std::move(stay));
  return out;
}

/// Puts an input, with keys that are added to it, below a join as the first one.
/// @param columns  of the table
/// @returns a plan of the input's columns, then the table's
plan_node joined_by(plan_node left, std::vector<bound_expression> added, plan_node made,
                    const std::vector<plan_column>& columns) {
  const auto width = left.columns.size();
  const auto shift = added.size();
  auto all = left.columns;
  all.insert(all.end(), columns.begin(), columns.end());
  if (shift > 0) {
    auto items = identity_items(left.columns);
    std::vector<std::string> names;
    for (const auto& each : left.columns)
      names.push_back(each.name);
    for (auto& each : added) {
      names.push_back("$l" + std::to_string(items.size() - width));
      items.push_back(std::move(each));
    }
    left = projected(std::move(left), std::move(items), std::move(names));
  }
  made.columns = left.columns;
  made.columns.insert(made.columns.end(), columns.begin(), columns.end());
  made.inputs.insert(made.inputs.begin(), std::move(left));
  if (shift == 0)
    return made;
  std::vector<bound_expression> items;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < all.size(); ++i) {
    items.push_back({bound_column{i < width ? i : i + shift}, all[i].type, {}});
    names.push_back(all[i].name);
  }
  return projected(std::move(made), std::move(items), std::move(names));
}

} // namespace

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

bool query_planner::find_asked_time(const expression& asked, const relation& input,
                                    std::optional<std::size_t>& column) {
  expression_binder binder(input.scope, findings_, &functions_);
  const auto bound = binder.bind(asked);
  if (!bound)
    return false;
  if (const auto* named = std::get_if<bound_column>(&bound->node)) {
    const auto time = input.plan.columns[named->index].time;
    if (time == time_kind::row_time)
      column = named->index;
    if (time != time_kind::none)
      return true;
  }
  if (const auto* call = std::get_if<bound_call>(&bound->node);
      call != nullptr && call->function == "PROCTIME")
    return true;
  return refuse(
      "FOR SYSTEM_TIME AS OF takes a time attribute of the table before it: PROCTIME(), or "
      "a column with a WATERMARK",
      asked.at);
}

std::optional<query_planner::relation> query_planner::plan_temporal_join(const join_table& from,
                                                                         source_span at) {
  auto left = plan_table(*from.left);
  std::optional<std::size_t> time;
  if (!left || !find_asked_time(*from.right->system_time, *left, time))
    return std::nullopt;
  if ((from.kind != join_kind::left && from.kind != join_kind::inner) || !from.on)
    return unsupported("FOR SYSTEM_TIME AS OF is joined by JOIN or LEFT JOIN, with ON", at);
  return time ? plan_version_join(from, std::move(*left), *time, at)
              : plan_lookup_join(from, std::move(*left), at);
}

std::optional<query_planner::relation>
query_planner::plan_lookup_join(const join_table& from, relation left, source_span at) {
  std::vector<plan_column> columns;
  std::string label;
  auto table = plan_lookup_table(*from.right, columns, label);
  if (!table)
    return std::nullopt;
  const bool is_left = from.kind == join_kind::left;
  auto scope = left.scope;
  for (auto& each : columns) {
    if (is_left)
      each.type = each.type.nullable();
    scope.add(label, each.name, each.type);
  }
  auto condition = expression_binder(scope, findings_, &functions_).bind_condition(*from.on);
  if (!condition)
    return std::nullopt;
  auto parts = take_keys(std::move(*condition), left.plan.columns.size());
  if (parts.keys.empty())
    return unsupported("FOR SYSTEM_TIME AS OF is joined by a column of the table: ON … = " + label +
                           ".column, of its type (CAST what it is compared with)",
                       at);
  lookup_join_node node;
  node.kind = is_left ? join_type::left : join_type::inner;
  node.table = std::move(*table);
  node.keys = std::move(parts.keys);
  node.condition = std::move(parts.rest);
  plan_node made;
  made.at = at;
  made.node = std::move(node);
  return relation{joined_by(std::move(left.plan), std::move(parts.added), std::move(made), columns),
                  std::move(scope)};
}

std::optional<std::vector<std::size_t>>
query_planner::find_primary_key(const table_expression& of,
                                const std::vector<plan_column>& columns) {
  const auto* named = std::get_if<table_reference>(&of.node);
  const bool is_common =
      named == nullptr || !is_known(named->table) ||
      (named->table.parts.size() == 1 &&
       std::any_of(common_tables_.begin(), common_tables_.end(),
                   [&](const auto& each) { return each.name == named->table.parts[0].text; }));
  const auto found = is_common ? std::nullopt : find_relation(named->table);
  const auto* table = found ? std::get_if<graph::table_definition>(&found->definition) : nullptr;
  if (table == nullptr || table->primary_key.empty() || table->columns.size() != columns.size())
    return std::nullopt;
  std::vector<std::size_t> out;
  for (const auto& key : table->primary_key)
    for (std::size_t i = 0; i < table->columns.size(); ++i)
      if (table->columns[i].name == key)
        out.push_back(i);
  return out;
}

/// Each row with the version that a table's row of its key had at its time.
std::optional<query_planner::relation> query_planner::plan_version_join(const join_table& from,
                                                                        relation left,
                                                                        std::size_t left_time,
                                                                        source_span at) {
  auto versions = *from.right;
  versions.system_time.reset();
  auto right = plan_table(versions);
  if (!right)
    return std::nullopt;
  version_join_node node;
  auto& columns = right->plan.columns;
  const auto time = std::find_if(columns.begin(), columns.end(), [](const plan_column& each) {
    return each.time == time_kind::row_time;
  });
  if (time == columns.end())
    return fail(
        diagnostic_kind::invalid,
        "Event-Time Temporal Table Join requires both primary key and row time attribute in "
        "versioned table, but no row time attribute can be found",
        from.right->at);
  node.kind = from.kind == join_kind::left ? join_type::left : join_type::inner;
  node.left_time = left_time;
  node.right_time = static_cast<std::size_t>(time - columns.begin());
  node.primary_key = find_primary_key(versions, columns);
  auto given = columns;
  auto scope = left.scope;
  for (std::size_t i = 0; i < given.size(); ++i) {
    given[i].time = time_kind::none;
    given[i].window.reset();
    if (node.kind == join_type::left)
      given[i].type = given[i].type.nullable();
    const auto& known = right->scope.columns()[i];
    scope.add(known.table, known.name, given[i].type, known.is_hidden);
  }
  auto condition = expression_binder(scope, findings_, &functions_).bind_condition(*from.on);
  if (!condition)
    return std::nullopt;
  auto parts = take_keys(std::move(*condition), left.plan.columns.size());
  node.keys = std::move(parts.keys);
  node.condition = std::move(parts.rest);
  plan_node made;
  made.at = at;
  made.node = std::move(node);
  made.inputs.push_back(std::move(right->plan));
  return relation{joined_by(std::move(left.plan), std::move(parts.added), std::move(made), given),
                  std::move(scope)};
}

} // namespace headrace::sql
