#include "libgraph/sql/plan/query_planner.hpp"
#include "libgraph/sql/plan/time_distance.hpp"

#include <algorithm>

namespace headrace::sql {
namespace {

join_type kind_of(join_kind from) {
  switch (from) {
  case join_kind::left:
    return join_type::left;
  case join_kind::right:
    return join_type::right;
  case join_kind::full:
    return join_type::full;
  default:
    return join_type::inner;
  }
}

/// The visible column of the name on one side; several are as bad as none.
std::optional<std::size_t> only_column(const std::vector<column_scope::column>& columns,
                                       std::size_t begin, std::size_t end, std::string_view name) {
  std::optional<std::size_t> out;
  for (auto i = begin; i < end; ++i) {
    if (columns[i].name != name || columns[i].is_hidden)
      continue;
    if (out)
      return std::nullopt;
    out = i;
  }
  return out;
}

} // namespace

std::string label_of(const table_expression& from) {
  if (from.alias)
    return from.alias->label.text;
  const auto* named = std::get_if<table_reference>(&from.node);
  return named == nullptr ? std::string() : named->table.parts.back().text;
}

std::optional<query_planner::relation> query_planner::plan_join(const join_table& from,
                                                                source_span at) {
  if (from.right->system_time)
    return plan_temporal_join(from, at);
  if (is_correlated(*from.right))
    return plan_correlate(from, at);
  auto left = plan_table(*from.left);
  auto right = plan_table(*from.right);
  if (!left || !right)
    return std::nullopt;
  const auto kind = kind_of(from.kind);
  const auto left_count = left->plan.columns.size();
  relation joined;
  joined.plan.at = at;
  const auto take = [&](const relation& side, bool may_be_missing) {
    for (std::size_t i = 0; i < side.plan.columns.size(); ++i) {
      auto column = side.plan.columns[i];
      column.time = time_kind::none;
      column.window.reset();
      if (may_be_missing)
        column.type = column.type.nullable();
      const auto& known = side.scope.columns()[i];
      joined.scope.add(known.table, known.name, column.type, known.is_hidden);
      joined.plan.columns.push_back(std::move(column));
    }
  };
  take(*left, kind == join_type::right || kind == join_type::full);
  take(*right, kind == join_type::left || kind == join_type::full);

  join_node node;
  node.kind = kind;
  auto shared = from.common_columns;
  if (from.is_natural)
    for (const auto& each : left->scope.columns())
      if (!each.is_hidden &&
          only_column(joined.scope.columns(), left_count, joined.plan.columns.size(), each.name))
        shared.push_back({each.name, from.sign});
  bool is_sound = true;
  if (from.on) {
    node.condition =
        expression_binder(joined.scope, findings_, &functions_).bind_condition(*from.on);
    is_sound = node.condition.has_value();
  } else if (!shared.empty()) {
    node.condition = bind_shared(joined, left_count, shared, at);
    is_sound = node.condition.has_value();
  }
  if (!is_sound)
    return std::nullopt;
  if (hints_ != nullptr && !hints_->apply(node, label_of(*from.left), label_of(*from.right),
                                          joined.plan.columns, left_count, at))
    return std::nullopt;
  joined.plan.node = std::move(node);
  joined.plan.inputs.push_back(std::move(left->plan));
  joined.plan.inputs.push_back(std::move(right->plan));
  keep_times(joined.plan, std::get<join_node>(joined.plan.node).condition);
  return shared.empty() ? std::move(joined)
                        : merge_columns(std::move(joined), left_count, shared, kind);
}

/// That the shared columns of both sides are equal.
std::optional<bound_expression> query_planner::bind_shared(const relation& joined,
                                                           std::size_t left_count,
                                                           const std::vector<name>& shared,
                                                           source_span at) {
  const auto& types = joined.plan.columns;
  std::vector<bound_expression> parts;
  bool is_sound = true;
  for (const auto& each : shared) {
    const auto one = only_column(joined.scope.columns(), 0, left_count, each.text);
    const auto other = only_column(joined.scope.columns(), left_count, types.size(), each.text);
    if (!one || !other) {
      is_sound = false;
      fail(diagnostic_kind::unknown_name,
           "column is not once in each table: " + each.text + ", as USING and NATURAL want it",
           each.at);
      continue;
    }
    const logical_type both[] = {types[*one].type, types[*other].type};
    const auto common = common_type(both);
    if (!common) {
      is_sound = false;
      fail(diagnostic_kind::type_mismatch,
           "cannot compare by =: " + both[0].nullable().to_sql() + " and " +
               both[1].nullable().to_sql() + ", of column " + each.text,
           each.at);
      continue;
    }
    bound_expression left{bound_column{*one}, both[0], each.at};
    bound_expression right{bound_column{*other}, both[1], each.at};
    expression_binder::cast_to_compare(left, right);
    bound_call equal;
    equal.function = "=";
    equal.arguments.push_back(std::move(left));
    equal.arguments.push_back(std::move(right));
    const auto type =
        common->is_nullable() ? logical_type::boolean() : logical_type::boolean().not_null();
    parts.push_back({std::move(equal), type, each.at});
  }
  if (!is_sound)
    return std::nullopt;
  if (parts.size() == 1)
    return std::move(parts[0]);
  bound_call every;
  every.function = "AND";
  every.arguments = std::move(parts);
  return bound_expression{std::move(every), logical_type::boolean(), at};
}

/// USING and NATURAL: the shared columns stand once, at the front; by the table's name each is
/// still found.
std::optional<query_planner::relation> query_planner::merge_columns(relation joined,
                                                                    std::size_t left_count,
                                                                    const std::vector<name>& shared,
                                                                    join_type kind) {
  const auto& known = joined.scope.columns();
  const auto width = joined.plan.columns.size();
  std::vector<bound_expression> items;
  std::vector<std::string> names;
  column_scope scope;
  std::vector<bool> is_merged(width, false);
  const auto column = [&](std::size_t index) {
    return bound_expression{bound_column{index}, joined.plan.columns[index].type, {}};
  };
  for (const auto& each : shared) {
    const auto one = *only_column(known, 0, left_count, each.text);
    const auto other = *only_column(known, left_count, width, each.text);
    is_merged[one] = true;
    is_merged[other] = true;
    auto value = column(kind == join_type::right ? other : one);
    if (kind == join_type::full) {
      const logical_type both[] = {known[one].type, known[other].type};
      const auto type = *common_type(both);
      bound_call either;
      either.function = "COALESCE";
      either.arguments.push_back(expression_binder::cast_to(column(one), type));
      either.arguments.push_back(expression_binder::cast_to(column(other), type));
      value = {std::move(either), type, each.at};
    }
    scope.add({}, each.text, value.type);
    items.push_back(std::move(value));
    names.push_back(each.text);
  }
  for (const bool merged : {false, true})
    for (std::size_t i = 0; i < width; ++i) {
      if (is_merged[i] != merged)
        continue;
      scope.add(known[i].table, known[i].name, known[i].type, merged || known[i].is_hidden);
      items.push_back(column(i));
      names.push_back(known[i].name);
    }
  relation out;
  out.plan = projected(std::move(joined.plan), std::move(items), std::move(names));
  out.scope = std::move(scope);
  return out;
}

} // namespace headrace::sql
