#include "libgraph/sql/plan/conditions.hpp"
#include "libgraph/sql/plan/grouping.hpp"
#include "libgraph/sql/plan/query_planner.hpp"
#include "libgraph/sql/plan/sub_query_parts.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>

// Aggregates without GROUP BY inside expressions: one row, joined to each of those around it.
namespace headrace::sql {
namespace {

bool is_null(const bound_expression& in) {
  const auto* constant = std::get_if<bound_constant>(&in.node);
  return constant != nullptr && !constant->text && in.type.is_nullable();
}

/// NULL for NULL, whatever the other operands are.
bool is_strict(std::string_view function) {
  constexpr std::string_view strict[] = {"CAST", "+",   "-",     "*",        "/",
                                         "MOD",  "ABS", "ROUND", "SUB-QUERY"};
  return std::find(std::begin(strict), std::end(strict), function) != std::end(strict);
}

/// What the value is when there is no row: COUNT is 0, other aggregates are NULL.
bound_expression without_rows(const bound_expression& value, const std::vector<bool>& counts) {
  const auto null_of = [](const bound_expression& of) {
    return bound_expression{bound_constant{}, of.type.nullable(), of.at};
  };
  if (const auto* column = std::get_if<bound_column>(&value.node)) {
    const bool is_count = column->index < counts.size() && counts[column->index];
    return is_count ? bound_expression{bound_constant{"0", std::nullopt}, value.type, value.at}
                    : null_of(value);
  }
  auto out = value;
  if (auto* field = std::get_if<bound_field>(&out.node)) {
    field->row = without_rows(*field->row, counts);
    out.type = out.type.nullable();
  } else if (auto* call = std::get_if<bound_call>(&out.node)) {
    for (auto& each : call->arguments)
      each = without_rows(each, counts);
    const auto& inner = call->arguments;
    if (is_strict(call->function) && std::any_of(inner.begin(), inner.end(), is_null))
      return null_of(value);
    out.type = out.type.nullable();
  }
  return out;
}

/// What no user can write.
constexpr std::string_view only_value = "SUB-QUERY";

/// The value of the only row; NULL of none. Another one fails the job.
expression only_value_of(expression values) {
  const auto at = values.at;
  const auto call = [&](std::string_view function, expression argument_value) {
    function_call made;
    made.function = {{{std::string(function), at}}, at};
    made.arguments.push_back({std::nullopt, std::move(argument_value)});
    return expression{std::move(made), at};
  };
  return call(only_value, call("ARRAY_AGG", std::move(values)));
}

/// The same rows as one.
query only_row(const query& from) {
  auto out = from;
  out.order_by.clear();
  if (is_plain(out) && !std::get<select>(out.body).is_distinct) {
    auto& item = std::get<select>(out.body).items[0];
    if (!std::holds_alternative<star>(item.value.node)) {
      item.value = only_value_of(std::move(item.value));
      return out;
    }
  }
  const name label{"$rows", from.at};
  const name column{"$value", from.at};
  table_expression rows;
  rows.node = derived_table{from, false};
  rows.alias = table_alias{label, {column}};
  rows.at = from.at;
  select body;
  body.items.push_back(
      {only_value_of({column_reference{{{label, column}, from.at}}, from.at}), std::nullopt});
  body.from = std::move(rows);
  out = {};
  out.body = std::move(body);
  out.at = from.at;
  return out;
}

} // namespace

std::optional<bound_expression>
query_planner::plan_query_value(relation& input, const subquery& from, source_span at) {
  const auto* body = std::get_if<select>(&from.rows->body);
  if (body != nullptr && body->items.size() != 1)
    return fail(diagnostic_kind::invalid,
                "a query that stands for a value has one column, found " +
                    std::to_string(body->items.size()),
                at);
  const bool is_one_row = is_aggregate_row(*from.rows) && !body->is_distinct;
  auto values = plan_aggregate_row(input, is_one_row ? *from.rows : only_row(*from.rows), at);
  return values ? std::optional(std::move(values->front())) : std::nullopt;
}

/// That the values are equal to what the query's rows have, as keys of both.
bool query_planner::tie_values(matched_values& matched, const relation& rows,
                               std::vector<bound_expression>& outer_keys,
                               std::vector<bound_expression>& keys, source_span at) {
  expression_binder binder(rows.scope, findings_, &functions_);
  for (std::size_t i = 0; i < matched.values.size(); ++i) {
    auto value = matched.values[i];
    visit_columns(value, [](bound_column& column) { column.index += column_scope::outer_first; });
    auto item = binder.bind(matched.items[i]);
    if (!item)
      return false;
    const auto types = value.type.nullable().to_sql() + " and " + item->type.nullable().to_sql();
    matched.may_be_null |= value.type.is_nullable() || item->type.is_nullable();
    auto equal = comparison("=", std::move(value), std::move(*item), at);
    if (!equal) {
      fail(diagnostic_kind::type_mismatch, "cannot compare by IN: " + types + "; CAST one side",
           at);
      return false;
    }
    auto& sides = std::get<bound_call>(equal->node).arguments;
    outer_keys.push_back(std::move(sides[0]));
    keys.push_back(std::move(sides[1]));
  }
  return true;
}

std::optional<std::vector<bound_expression>>
query_planner::plan_aggregate_row(relation& input, const query& from, source_span at,
                                  matched_values* matched) {
  const auto& body = std::get<select>(from.body);
  auto rows = plan_table(**body.from);
  if (!rows)
    return std::nullopt;
  std::vector<bound_expression> correlations;
  if (body.where) {
    rows->scope.set_outer(&input.scope);
    rows = plan_where(std::move(*rows), *body.where, &correlations);
    if (!rows)
      return std::nullopt;
    rows->scope.set_outer(nullptr);
  }
  std::vector<bound_expression> keys;
  std::vector<bound_expression> outer_keys;
  for (auto& each : correlations) {
    auto* equal = std::get_if<bound_call>(&each.node);
    bool is_tied = equal != nullptr && equal->function == "=";
    for (std::size_t i = 0; is_tied && i < 2; ++i)
      is_tied = names_outer(equal->arguments[i]) != names_own(equal->arguments[i]) &&
                names_outer(equal->arguments[0]) != names_outer(equal->arguments[1]);
    if (!is_tied)
      return unsupported("a query that stands for a value is tied to the query around it by "
                         "conditions like its.column = other.column alone",
                         each.at);
    const std::size_t outer = names_outer(equal->arguments[0]) ? 0 : 1;
    outer_keys.push_back(std::move(equal->arguments[outer]));
    keys.push_back(std::move(equal->arguments[1 - outer]));
  }
  if (matched != nullptr && !tie_values(*matched, *rows, outer_keys, keys, at))
    return std::nullopt;
  std::vector<bound_expression> outputs;
  {
    expression_binder binder(rows->scope, findings_, &functions_);
    binder.allow_aggregates(true);
    for (const auto& each : body.items)
      if (auto value = binder.bind(each.value))
        outputs.push_back(std::move(*value));
    if (outputs.size() != body.items.size())
      return std::nullopt;
  }
  auto grouped = plan_groups(std::move(rows->plan), keys, outputs, std::nullopt);
  if (!grouped)
    return std::nullopt;
  const auto& groups = std::get<aggregate_node>(grouped->node);
  std::vector<bool> counts(grouped->columns.size(), false);
  for (std::size_t i = 0; i < groups.items.size(); ++i)
    counts[groups.key_count + i] = groups.items[i].function == "COUNT";
  std::vector<bound_expression> missing;
  for (const auto& each : outputs)
    missing.push_back(without_rows(each, counts));
  const bool is_plain_null = std::all_of(missing.begin(), missing.end(), is_null);

  // The keys, the values, and a column that is NULL where there is no group.
  std::vector<bound_expression> items;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < keys.size(); ++i)
    items.push_back({bound_column{i}, grouped->columns[i].type, at});
  items.insert(items.end(), outputs.begin(), outputs.end());
  if (!is_plain_null)
    items.push_back({bound_constant{"1", std::nullopt}, logical_type::integer().not_null(), at});
  const auto width = input.plan.columns.size();
  for (std::size_t i = 0; i < items.size(); ++i)
    names.push_back(std::string(keys.empty() ? query_value_prefix : tied_value_prefix) +
                    std::to_string(width + i));
  auto value_rows = projected(std::move(*grouped), std::move(items), std::move(names));

  plan_node joined;
  joined.at = at;
  joined.columns = input.plan.columns;
  conditions parts;
  for (std::size_t i = 0; i < outer_keys.size(); ++i) {
    move_columns(outer_keys[i], width);
    bound_expression key{bound_column{width + i}, value_rows.columns[i].type, at};
    auto equal = comparison("=", std::move(outer_keys[i]), std::move(key), at);
    HEADRACE_ASSERT(equal.has_value(), "they were compared before");
    parts.push_back(std::move(*equal));
  }
  for (auto column : value_rows.columns) {
    column.type = column.type.nullable();
    input.scope.add({}, column.name, column.type, true);
    joined.columns.push_back(std::move(column));
  }
  forget_times(joined.columns);
  joined.node = join_node{join_type::left, all_of(std::move(parts))};
  joined.inputs.push_back(std::move(input.plan));
  joined.inputs.push_back(std::move(value_rows));
  input.plan = std::move(joined);

  const auto place = width + keys.size();
  const auto column = [&](std::size_t index) {
    return bound_expression{bound_column{index}, input.plan.columns[index].type, at};
  };
  std::vector<bound_expression> values;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    auto value = column(place + i);
    if (is_null(missing[i])) {
      values.push_back(std::move(value));
      continue;
    }
    const auto type = value.type;
    auto is_missing = call_of("IS NULL", {column(place + outputs.size())},
                              logical_type::boolean().not_null(), at);
    auto otherwise = expression_binder::cast_to(std::move(missing[i]), type);
    values.push_back(
        call_of("CASE", {std::move(is_missing), std::move(otherwise), std::move(value)}, type, at));
  }
  return values;
}

} // namespace headrace::sql
