#include "libgraph/sql/plan/conditions.hpp"
#include "libgraph/sql/plan/grouping.hpp"
#include "libgraph/sql/plan/query_planner.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>

// Queries inside expressions, as joins: conditions of WHERE become semi and anti joins, values left
// joins with groups. A query may be about rows of the one around it, by conditions of its WHERE.
namespace headrace::sql {
namespace {

bool names_outer(const bound_expression& in) {
  bool out = false;
  visit_columns(
      in, [&](const bound_column& column) { out |= column.index >= column_scope::outer_first; });
  return out;
}
bool names_own(const bound_expression& in) {
  bool out = false;
  visit_columns(
      in, [&](const bound_column& column) { out |= column.index < column_scope::outer_first; });
  return out;
}

/// Columns of the query around come first, then those of the sub-query.
void move_columns(bound_expression& in, std::size_t outer_width) {
  visit_columns(in, [&](bound_column& column) {
    column.index = column.index >= column_scope::outer_first
                       ? column.index - column_scope::outer_first
                       : column.index + outer_width;
  });
}

bound_expression call_of(std::string function, std::vector<bound_expression> arguments,
                         logical_type type, source_span at) {
  bound_call out;
  out.function = std::move(function);
  out.arguments = std::move(arguments);
  return {std::move(out), std::move(type), at};
}

/// Both as what they have in common; nothing where they have nothing.
std::optional<bound_expression> comparison(std::string sign, bound_expression left,
                                           bound_expression right, source_span at) {
  const logical_type both[] = {left.type, right.type};
  const auto common = common_type(both);
  if (!common)
    return std::nullopt;
  const bool is_nullable = left.type.is_nullable() || right.type.is_nullable();
  std::vector<bound_expression> arguments;
  arguments.push_back(expression_binder::cast_to(std::move(left), *common));
  arguments.push_back(expression_binder::cast_to(std::move(right), *common));
  return call_of(std::move(sign), std::move(arguments),
                 is_nullable ? logical_type::boolean() : logical_type::boolean().not_null(), at);
}

/// Where the comparison is not FALSE: what NOT IN and ALL must not find.
bound_expression or_unknown(bound_expression compared) {
  const auto at = compared.at;
  std::vector<bound_expression> ways;
  for (const auto& each : std::get<bound_call>(compared.node).arguments)
    if (each.type.is_nullable())
      ways.push_back(call_of("IS NULL", {each}, logical_type::boolean().not_null(), at));
  if (ways.empty())
    return compared;
  ways.insert(ways.begin(), std::move(compared));
  return call_of("OR", std::move(ways), logical_type::boolean(), at);
}

std::string_view sign_of(operator_kind kind, bool is_inverse) {
  switch (kind) {
  case operator_kind::equal:
    return is_inverse ? "<>" : "=";
  case operator_kind::not_equal:
    return is_inverse ? "=" : "<>";
  case operator_kind::less:
    return is_inverse ? ">=" : "<";
  case operator_kind::less_or_equal:
    return is_inverse ? ">" : "<=";
  case operator_kind::greater:
    return is_inverse ? "<=" : ">";
  default:
    return is_inverse ? "<" : ">=";
  }
}

/// Rows of a join come when the later of both sides comes.
void forget_times(std::vector<plan_column>& columns) {
  for (auto& each : columns) {
    each.time = time_kind::none;
    each.window.reset();
  }
}

/// A select of whose rows each stands for one of FROM.
bool is_plain(const query& from) {
  const auto* body = std::get_if<select>(&from.body);
  return body != nullptr && body->from && from.with.empty() && !from.limit && !from.offset &&
         !body->has_group_by && !body->having && !body->qualify && body->windows.empty();
}

/// What the value is when there is no row: COUNT is 0, other aggregates are NULL.
bound_expression without_rows(const bound_expression& value, const std::vector<bool>& counts) {
  if (const auto* column = std::get_if<bound_column>(&value.node)) {
    const bool is_count = column->index < counts.size() && counts[column->index];
    return {bound_constant{is_count ? std::optional<std::string>("0") : std::nullopt, std::nullopt},
            is_count ? value.type : value.type.nullable(), value.at};
  }
  auto out = value;
  out.type = out.type.nullable();
  if (auto* call = std::get_if<bound_call>(&out.node))
    for (auto& each : call->arguments)
      each = without_rows(each, counts);
  return out;
}

} // namespace

std::optional<query_planner::sub_rows>
query_planner::plan_sub_rows(const query& from, const column_scope& outer, wanted_items wanted) {
  const auto known = findings_.size();
  const auto* body = std::get_if<select>(&from.body);
  const auto label = body != nullptr && body->from ? label_of(**body->from) : std::string();
  if (auto rows = plan_query(from)) {
    sub_rows out;
    out.items = identity_items(rows->columns);
    for (const auto& each : rows->columns)
      out.names.push_back(each.name);
    out.plan = std::move(*rows);
    out.label = label;
    return out;
  }
  const auto first = findings_.begin() + static_cast<std::ptrdiff_t>(known);
  const bool has_unknown = std::any_of(first, findings_.end(), [](const diagnostic& each) {
    return each.kind == diagnostic_kind::unknown_name;
  });
  if (!has_unknown || !is_plain(from))
    return std::nullopt;
  const std::vector<diagnostic> alone(first, findings_.end());
  findings_.erase(first, findings_.end());
  auto out = plan_correlated(from, outer, wanted);
  if (out)
    out->label = label;
  if (!out && findings_.size() == known)
    findings_.insert(findings_.end(), alone.begin(), alone.end());
  return out;
}

std::optional<query_planner::sub_rows>
query_planner::plan_correlated(const query& from, const column_scope& outer, wanted_items wanted) {
  const auto& body = std::get<select>(from.body);
  auto input = plan_table(**body.from);
  if (!input)
    return std::nullopt;
  sub_rows out;
  if (body.where) {
    input->scope.set_outer(&outer);
    input = plan_where(std::move(*input), *body.where, &out.correlations);
    if (!input)
      return std::nullopt;
    input->scope.set_outer(nullptr);
  }
  if (wanted != wanted_items::none) {
    std::vector<select_output> items;
    if (wanted == wanted_items::lateral)
      input->scope.set_outer(&outer);
    expression_binder binder(input->scope, findings_, &functions_);
    if (!bind_items(body, *input, binder, items))
      return std::nullopt;
    for (auto& each : items) {
      out.items.push_back(std::move(each.value));
      out.names.push_back(std::move(each.name));
    }
  }
  out.plan = std::move(input->plan);
  return out;
}

std::optional<query_planner::relation>
query_planner::plan_query_condition(relation input, const expression& condition) {
  bool is_negated = false;
  const auto* inner = &condition;
  for (const auto* each = std::get_if<operation>(&inner->node);
       each != nullptr && each->kind == operator_kind::not_;
       each = std::get_if<operation>(&inner->node)) {
    is_negated = !is_negated;
    inner = &each->operands[0];
  }
  if (const auto* found = std::get_if<in_query>(&inner->node)) {
    auto asked = *found;
    asked.is_negated = asked.is_negated != is_negated;
    return plan_in_query(std::move(input), asked, inner->at);
  }
  if (const auto* found = std::get_if<exists>(&inner->node))
    return plan_exists(std::move(input), *found, is_negated, inner->at);
  return plan_comparison(std::move(input), std::get<quantified_comparison>(inner->node), is_negated,
                         inner->at);
}

/// The left rows that have a match among those of the query, or those that have none.
std::optional<query_planner::relation> query_planner::join_query(relation input, sub_rows rows,
                                                                 join_type kind, conditions parts,
                                                                 source_span at) {
  const auto width = input.plan.columns.size();
  for (auto& each : rows.correlations) {
    move_columns(each, width);
    parts.push_back(std::move(each));
  }
  plan_node joined;
  joined.at = at;
  joined.columns = input.plan.columns;
  forget_times(joined.columns);
  join_node node{kind, all_of(std::move(parts))};
  if (hints_ != nullptr && !hints_->apply(node, {}, rows.label, joined.columns, width, at))
    return std::nullopt;
  joined.node = std::move(node);
  joined.inputs.push_back(std::move(input.plan));
  joined.inputs.push_back(std::move(rows.plan));
  input.plan = std::move(joined);
  return input;
}

std::optional<query_planner::relation>
query_planner::plan_exists(relation input, const exists& from, bool is_negated, source_span at) {
  auto rows = plan_sub_rows(*from.rows, input.scope, wanted_items::none);
  if (!rows)
    return std::nullopt;
  return join_query(std::move(input), std::move(*rows),
                    is_negated ? join_type::anti : join_type::semi, {}, at);
}

std::optional<query_planner::relation>
query_planner::plan_in_query(relation input, const in_query& from, source_span at) {
  std::vector<bound_expression> values;
  {
    expression_binder binder(input.scope, findings_, &functions_);
    const auto* row = std::get_if<row_constructor>(&from.value->node);
    const std::vector<expression> one{*from.value};
    for (const auto& each : row != nullptr ? row->items : one)
      if (auto value = binder.bind(each))
        values.push_back(std::move(*value));
    if (values.size() != (row != nullptr ? row->items.size() : 1))
      return std::nullopt;
  }
  auto rows = plan_sub_rows(*from.items, input.scope, wanted_items::own);
  if (!rows)
    return std::nullopt;
  if (rows->items.size() != values.size())
    return fail(
        diagnostic_kind::invalid,
        "query behind IN has " +
            (values.size() == 1 ? "one column" : std::to_string(values.size()) + " columns") +
            ", found " + std::to_string(rows->items.size()),
        from.items->at);
  const auto width = input.plan.columns.size();
  conditions parts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto item = std::move(rows->items[i]);
    move_columns(item, width);
    const auto types = values[i].type.nullable().to_sql() + " and " + item.type.nullable().to_sql();
    auto equal = comparison("=", std::move(values[i]), std::move(item), at);
    if (!equal)
      return fail(diagnostic_kind::type_mismatch,
                  "cannot compare by IN: " + types + "; CAST one side", at);
    parts.push_back(from.is_negated ? or_unknown(std::move(*equal)) : std::move(*equal));
  }
  return join_query(std::move(input), std::move(*rows),
                    from.is_negated ? join_type::anti : join_type::semi, std::move(parts), at);
}

/// ANY is true where one row compares so, ALL where none compares otherwise or not at all.
std::optional<query_planner::relation>
query_planner::plan_comparison(relation input, const quantified_comparison& from, bool is_negated,
                               source_span at) {
  const bool is_all = from.is_all != is_negated;
  // NOT (x < ANY …) is x >= ALL …; and that none compares otherwise inverts it once more.
  const bool is_inverse = is_negated != is_all;
  auto value = expression_binder(input.scope, findings_, &functions_).bind(*from.value);
  auto rows = plan_sub_rows(**from.rows, input.scope, wanted_items::own);
  if (!value || !rows)
    return std::nullopt;
  if (rows->items.size() != 1)
    return fail(
        diagnostic_kind::invalid,
        "query behind ANY or ALL has one column, found " + std::to_string(rows->items.size()), at);
  auto item = std::move(rows->items[0]);
  move_columns(item, input.plan.columns.size());
  const auto types = value->type.nullable().to_sql() + " and " + item.type.nullable().to_sql();
  auto compared = comparison(std::string(sign_of(from.kind, is_inverse)), std::move(*value),
                             std::move(item), at);
  if (!compared)
    return fail(diagnostic_kind::type_mismatch, "cannot compare: " + types + "; CAST one side", at);
  conditions parts;
  parts.push_back(is_all ? or_unknown(std::move(*compared)) : std::move(*compared));
  return join_query(std::move(input), std::move(*rows), is_all ? join_type::anti : join_type::semi,
                    std::move(parts), at);
}

std::optional<bound_expression>
query_planner::plan_query_value(relation& input, const subquery& from, source_span at) {
  const auto* body = std::get_if<select>(&from.rows->body);
  if (!is_plain(*from.rows) || body->is_distinct || body->items.size() != 1)
    return unsupported("a query that stands for a value is SELECT aggregate FROM … WHERE …, of one "
                       "column and without GROUP BY, so that it has one row",
                       at);
  auto rows = plan_table(**body->from);
  if (!rows)
    return std::nullopt;
  std::vector<bound_expression> correlations;
  if (body->where) {
    rows->scope.set_outer(&input.scope);
    rows = plan_where(std::move(*rows), *body->where, &correlations);
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
  std::vector<bound_expression> outputs;
  {
    expression_binder binder(rows->scope, findings_, &functions_);
    binder.allow_aggregates(true);
    auto value = binder.bind(body->items[0].value);
    if (!value)
      return std::nullopt;
    if (!has_aggregate(*value))
      return unsupported("a query that stands for a value has an aggregate, so that it has one "
                         "row: SELECT MAX(x) …",
                         at);
    outputs.push_back(std::move(*value));
  }
  auto grouped = plan_groups(std::move(rows->plan), keys, outputs, std::nullopt);
  if (!grouped)
    return std::nullopt;
  const auto& groups = std::get<aggregate_node>(grouped->node);
  std::vector<bool> counts(grouped->columns.size(), false);
  for (std::size_t i = 0; i < groups.items.size(); ++i)
    counts[groups.key_count + i] = groups.items[i].function == "COUNT";
  bool has_count = false;
  visit_columns(outputs[0], [&](const bound_column& column) { has_count |= counts[column.index]; });
  const auto missing = without_rows(outputs[0], counts);

  // The keys, the value, and a column that is NULL where there is no group.
  std::vector<bound_expression> items;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < keys.size(); ++i)
    items.push_back({bound_column{i}, grouped->columns[i].type, at});
  items.push_back(outputs[0]);
  items.push_back({bound_constant{"1", std::nullopt}, logical_type::integer().not_null(), at});
  if (!has_count)
    items.pop_back();
  const auto width = input.plan.columns.size();
  for (std::size_t i = 0; i < items.size(); ++i)
    names.push_back("$q" + std::to_string(width + i));
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
  bound_expression value{bound_column{place}, input.plan.columns[place].type, at};
  if (!has_count)
    return value;
  bound_expression there{bound_column{place + 1}, input.plan.columns[place + 1].type, at};
  auto is_missing = call_of("IS NULL", {std::move(there)}, logical_type::boolean().not_null(), at);
  auto otherwise = expression_binder::cast_to(missing, value.type);
  const auto type = value.type;
  return call_of("CASE", {std::move(is_missing), std::move(otherwise), std::move(value)}, type, at);
}

} // namespace headrace::sql
