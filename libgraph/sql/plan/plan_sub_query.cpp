#include "libgraph/sql/plan/conditions.hpp"
#include "libgraph/sql/plan/query_planner.hpp"
#include "libgraph/sql/plan/sub_query_parts.hpp"

#include <algorithm>

// Queries inside conditions, as joins: conditions of WHERE become semi and anti joins. A query may
// be about rows of the one around it, by conditions of its WHERE.
namespace headrace::sql {
namespace {

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
  if (!has_unknown)
    return std::nullopt;
  if (!is_plain(from)) {
    if (names_around(from, outer)) {
      findings_.erase(first, findings_.end());
      return unsupported(
          "a query about rows of the one around it is SELECT … FROM … WHERE …: WITH, "
          "GROUP BY, HAVING, LIMIT and the like are not supported there",
          from.at);
    }
    return std::nullopt;
  }
  const std::vector<diagnostic> alone(first, findings_.end());
  findings_.erase(first, findings_.end());
  auto out = plan_correlated(from, outer, wanted);
  if (out)
    out->label = label;
  if (!out && findings_.size() == known)
    findings_.insert(findings_.end(), alone.begin(), alone.end());
  return out;
}

/// Whether WHERE of a query has sense with the columns of the query around alone.
bool query_planner::names_around(const query& from, const column_scope& outer) {
  const auto* body = std::get_if<select>(&from.body);
  if (body == nullptr || !body->from || !body->where)
    return false;
  std::vector<diagnostic> findings;
  query_planner probe(catalog_, names_, findings);
  probe.common_tables_ = common_tables_;
  auto input = probe.plan_table(**body->from);
  if (!input)
    return false;
  input->scope.set_outer(&outer);
  std::vector<bound_expression> correlations;
  return probe.plan_where(std::move(*input), *body->where, &correlations) && !correlations.empty();
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
  if (is_aggregate_row(*from.rows)) {
    // There is always the row: it is planned to be checked alone.
    auto asked = input;
    if (!plan_aggregate_row(asked, *from.rows, at))
      return std::nullopt;
    if (is_negated)
      input.plan = filtered(std::move(input.plan), {bound_constant{"FALSE", std::nullopt},
                                                    logical_type::boolean().not_null(), at});
    return input;
  }
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
  const auto width = input.plan.columns.size();
  std::optional<sub_rows> rows;
  std::optional<std::vector<bound_expression>> items;
  if (is_aggregate_row(*from.items)) {
    items = plan_aggregate_row(input, *from.items, at);
  } else if ((rows = plan_sub_rows(*from.items, input.scope, wanted_items::own))) {
    items = std::move(rows->items);
    for (auto& each : *items)
      move_columns(each, width);
  }
  if (!items)
    return std::nullopt;
  if (items->size() != values.size())
    return fail(
        diagnostic_kind::invalid,
        "query behind IN has " +
            (values.size() == 1 ? "one column" : std::to_string(values.size()) + " columns") +
            ", found " + std::to_string(items->size()),
        from.items->at);
  conditions parts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto& item = (*items)[i];
    const auto types = values[i].type.nullable().to_sql() + " and " + item.type.nullable().to_sql();
    auto equal = comparison("=", std::move(values[i]), std::move(item), at);
    if (!equal)
      return fail(diagnostic_kind::type_mismatch,
                  "cannot compare by IN: " + types + "; CAST one side", at);
    const bool is_none_wanted = from.is_negated && rows;
    parts.push_back(is_none_wanted ? or_unknown(std::move(*equal)) : std::move(*equal));
  }
  if (!rows)
    return keep_if(std::move(input), *all_of(std::move(parts)), from.is_negated);
  return join_query(std::move(input), std::move(*rows),
                    from.is_negated ? join_type::anti : join_type::semi, std::move(parts), at);
}

/// The rows for which a condition over one row is true, or is false.
query_planner::relation query_planner::keep_if(relation input, bound_expression condition,
                                               bool is_negated) {
  if (is_negated) {
    const auto type = condition.type;
    const auto at = condition.at;
    condition = call_of("NOT", {std::move(condition)}, type, at);
  }
  input.plan = filtered(std::move(input.plan), std::move(condition));
  return input;
}

/// ANY is true where one row compares so, ALL where none compares otherwise or not at all.
std::optional<query_planner::relation>
query_planner::plan_comparison(relation input, const quantified_comparison& from, bool is_negated,
                               source_span at) {
  auto value = expression_binder(input.scope, findings_, &functions_).bind(*from.value);
  if (!value)
    return std::nullopt;
  const bool is_row = is_aggregate_row(**from.rows);
  const bool is_all = from.is_all != is_negated;
  // NOT (x < ANY …) is x >= ALL …; and that none compares otherwise inverts it once more.
  const bool is_inverse = !is_row && is_negated != is_all;
  const auto width = input.plan.columns.size();
  std::optional<sub_rows> rows;
  std::optional<std::vector<bound_expression>> items;
  if (is_row) {
    items = plan_aggregate_row(input, **from.rows, at);
  } else if ((rows = plan_sub_rows(**from.rows, input.scope, wanted_items::own))) {
    items = std::move(rows->items);
    for (auto& each : *items)
      move_columns(each, width);
  }
  if (!items)
    return std::nullopt;
  if (items->size() != 1)
    return fail(diagnostic_kind::invalid,
                "query behind ANY or ALL has one column, found " + std::to_string(items->size()),
                at);
  auto& item = (*items)[0];
  const auto types = value->type.nullable().to_sql() + " and " + item.type.nullable().to_sql();
  auto compared = comparison(std::string(sign_of(from.kind, is_inverse)), std::move(*value),
                             std::move(item), at);
  if (!compared)
    return fail(diagnostic_kind::type_mismatch, "cannot compare: " + types + "; CAST one side", at);
  if (is_row)
    return keep_if(std::move(input), std::move(*compared), is_negated);
  conditions parts;
  parts.push_back(is_all ? or_unknown(std::move(*compared)) : std::move(*compared));
  return join_query(std::move(input), std::move(*rows), is_all ? join_type::anti : join_type::semi,
                    std::move(parts), at);
}

} // namespace headrace::sql
