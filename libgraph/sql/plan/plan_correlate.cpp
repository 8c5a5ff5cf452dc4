#include "libgraph/job_graph/correlate_check.hpp"
#include "libgraph/sql/parse/printer.hpp"
#include "libgraph/sql/plan/conditions.hpp"
#include "libgraph/sql/plan/lateral_top.hpp"
#include "libgraph/sql/plan/query_planner.hpp"
#include "libgraph/sql/plan/sub_query_parts.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>

// What is made of each row of the tables before it: UNNEST, LATERAL TABLE(f(…)), LATERAL (SELECT
// …).
namespace headrace::sql {

bool query_planner::is_correlated(const table_expression& right) const {
  if (const auto* rows = std::get_if<derived_table>(&right.node))
    return rows->is_lateral;
  if (const auto* made = std::get_if<function_table>(&right.node)) {
    const auto* call = std::get_if<function_call>(&made->call.node);
    return made->is_lateral || (call != nullptr && find_any_function(call->function) != nullptr);
  }
  return std::holds_alternative<unnest>(right.node);
}

bool query_planner::is_true(const expression& condition) {
  const auto* constant = std::get_if<literal>(&condition.node);
  return constant != nullptr && constant->kind == literal_kind::boolean &&
         in_capitals(constant->text) == "TRUE";
}

std::optional<query_planner::relation> query_planner::plan_correlate(const join_table& from,
                                                                     source_span at) {
  auto left = plan_table(*from.left);
  if (!left)
    return std::nullopt;
  const bool is_left = from.kind == join_kind::left;
  if (from.kind == join_kind::right || from.kind == join_kind::full || from.is_natural ||
      !from.common_columns.empty())
    return unsupported("UNNEST and LATERAL are joined by CROSS JOIN, JOIN … ON, a comma, or LEFT "
                       "JOIN … ON TRUE",
                       at);
  const bool has_condition = from.on && !is_true(*from.on);
  if (is_left && has_condition)
    return unsupported("UNNEST and LATERAL are joined by LEFT JOIN with ON TRUE alone; put the "
                       "condition into WHERE, or into the query behind LATERAL",
                       from.on->at);
  const auto kind = is_left ? join_type::left : join_type::inner;
  const auto& right = *from.right;
  std::optional<relation> out;
  if (const auto* collection = std::get_if<unnest>(&right.node))
    out = plan_unnest(std::move(*left), *collection, kind, right.alias, right.at);
  else if (const auto* made = std::get_if<function_table>(&right.node))
    out = plan_table_function(std::move(*left), *made, kind, right.alias, right.at);
  else
    out = plan_lateral(std::move(*left), std::get<derived_table>(right.node), kind, right.alias,
                       right.at);
  if (!out || !has_condition)
    return out;
  auto condition = expression_binder(out->scope, findings_, &functions_).bind_condition(*from.on);
  if (!condition)
    return std::nullopt;
  out->plan = filtered(std::move(out->plan), std::move(*condition));
  return out;
}

std::optional<query_planner::relation> query_planner::plan_node_of(const unnest& from,
                                                                   source_span at) {
  relation input;
  input.plan = one_row(at);
  return plan_unnest(std::move(input), from, join_type::inner, std::nullopt, at);
}

std::optional<query_planner::relation>
query_planner::plan_unnest(relation input, const unnest& from, join_type kind,
                           const std::optional<table_alias>& alias, source_span at) {
  if (from.collections.size() != 1)
    return unsupported("UNNEST takes one collection: join another UNNEST", at);
  auto collection =
      expression_binder(input.scope, findings_, &functions_).bind(from.collections[0]);
  if (!collection)
    return std::nullopt;
  const auto type = graph::unnested_type(collection->type, from.has_ordinality);
  if (!type)
    return fail(diagnostic_kind::type_mismatch,
                "UNNEST takes an ARRAY, a MAP or a MULTISET, found " +
                    collection->type.nullable().to_sql(),
                collection->at);
  correlate_node made;
  made.kind = kind;
  made.function = graph::correlate_spec::unnest;
  made.arguments.push_back(std::move(*collection));
  made.has_ordinality = from.has_ordinality;
  made.rows = *type;
  return correlated(std::move(input), std::move(made), alias, at);
}

std::optional<query_planner::relation>
query_planner::correlated(relation input, correlate_node made,
                          const std::optional<table_alias>& alias, source_span at) {
  relation out;
  out.plan.at = at;
  out.scope = std::move(input.scope);
  // A row that stands for no table has no columns in the scope.
  for (std::size_t i = 0; i < out.scope.columns().size(); ++i) {
    made.passed.push_back(i);
    out.plan.columns.push_back(input.plan.columns[i]);
  }
  std::vector<plan_column> columns;
  for (const auto& each : made.rows.fields()) {
    made.fields.push_back(made.fields.size());
    columns.push_back({each.name, made.kind == join_type::left ? each.type.nullable() : each.type,
                       time_kind::none, std::nullopt});
  }
  if (alias && !alias->columns.empty()) {
    if (!rename_columns(columns, alias->columns, alias->label.at))
      return std::nullopt;
  } else if (alias && columns.size() == 1 && made.user == nullptr) {
    columns[0].name = alias->label.text; // the only column has the name of its table
  }
  for (auto& each : columns) {
    out.scope.add(alias ? alias->label.text : std::string(), each.name, each.type);
    out.plan.columns.push_back(std::move(each));
  }
  out.plan.node = std::move(made);
  out.plan.inputs.push_back(std::move(input.plan));
  return out;
}

std::optional<query_planner::relation>
query_planner::plan_table_function(relation input, const function_table& from, join_type kind,
                                   const std::optional<table_alias>& alias, source_span at) {
  const auto* call = std::get_if<function_call>(&from.call.node);
  const auto function = call != nullptr ? find_any_function(call->function) : nullptr;
  if (function == nullptr)
    return fail(diagnostic_kind::unknown_name,
                "unknown table function" +
                    (call != nullptr ? ": " + to_sql(call->function) : std::string()) +
                    "; LATERAL TABLE takes one made by CREATE FUNCTION … RETURNS TABLE (…)",
                from.call.at);
  if (function->form != graph::user_form::table)
    return fail(diagnostic_kind::invalid,
                "is no table function, which RETURNS TABLE (…): " + function->name, from.call.at);
  auto arguments =
      expression_binder(input.scope, findings_, &functions_).bind_arguments(*call, *function);
  if (!arguments)
    return std::nullopt;
  correlate_node made;
  made.kind = kind;
  made.function = "`" + function->name + "`";
  made.user = function;
  made.arguments = std::move(*arguments);
  made.rows = function->result;
  return correlated(std::move(input), std::move(made), alias, at);
}

/// A query about each row of the tables before it is a join with its rows, by what ties them.
std::optional<query_planner::relation>
query_planner::plan_lateral(relation input, const derived_table& from, join_type kind,
                            const std::optional<table_alias>& alias, source_span at) {
  const auto known = findings_.size();
  auto rows = plan_sub_rows(*from.rows, input.scope, wanted_items::lateral);
  const bool has_first = !rows && is_top(*from.rows);
  std::vector<bound_expression> order;
  if (has_first) {
    findings_.erase(findings_.begin() + static_cast<std::ptrdiff_t>(known), findings_.end());
    rows = plan_correlated(with_order_behind(*from.rows), input.scope, wanted_items::lateral);
    const auto count = from.rows->order_by.size();
    if (rows) {
      order.assign(rows->items.end() - static_cast<std::ptrdiff_t>(count), rows->items.end());
      rows->items.resize(rows->items.size() - count);
      rows->names.resize(rows->items.size());
    }
  }
  if (!rows) {
    const bool is_tied =
        std::any_of(findings_.begin() + static_cast<std::ptrdiff_t>(known), findings_.end(),
                    [](const diagnostic& each) {
                      return each.kind == diagnostic_kind::unknown_name ||
                             each.message.starts_with("an aggregate does not stand here");
                    });
    return is_tied
               ? unsupported("a query behind LATERAL that names columns of the tables before it "
                             "is SELECT … FROM … WHERE … [ORDER BY …] LIMIT n, without "
                             "aggregates and groups",
                             at)
               : std::nullopt;
  }
  if (const auto* body = std::get_if<select>(&from.rows->body);
      body != nullptr && body->is_distinct && !rows->correlations.empty())
    return unsupported("DISTINCT of a query behind LATERAL that names columns of the tables before "
                       "it is not supported: say it around the join",
                       at);
  const auto width = input.plan.columns.size();
  // What the query computes of its own rows is computed below the join: NULL where none is found.
  auto below = identity_items(rows->plan.columns);
  std::vector<std::string> names;
  for (const auto& each : rows->plan.columns)
    names.push_back(each.name);
  std::vector<bound_expression> above;
  for (std::size_t i = 0; i < rows->items.size(); ++i) {
    auto& item = rows->items[i];
    if (names_outer(item)) {
      if (kind == join_type::left)
        return unsupported("what a query behind LEFT JOIN LATERAL selects is of its own tables",
                           item.at);
      move_columns(item, width);
      above.push_back(std::move(item));
      continue;
    }
    const auto type = kind == join_type::left ? item.type.nullable() : item.type;
    above.push_back({bound_column{width + below.size()}, type, item.at});
    names.push_back("$l" + std::to_string(below.size()));
    below.push_back(std::move(item));
  }
  rank_node first;
  if (has_first) {
    const auto tied = find_tied(rows->correlations);
    const auto limit = plan_count(*from.rows->limit, "LIMIT");
    const auto offset = from.rows->offset ? plan_count(*from.rows->offset, "OFFSET")
                                          : std::optional(std::int64_t{0});
    if (!limit || !offset)
      return std::nullopt;
    if (!tied || *limit == 0 || std::any_of(order.begin(), order.end(), names_outer))
      return unsupported("a query behind LATERAL with LIMIT gives one row at least, is tied to the "
                         "tables before it by conditions like its.column = other.column alone, and "
                         "its ORDER BY names no others",
                         at);
    const auto add = [&](const bound_expression& value) {
      names.push_back("$l" + std::to_string(below.size()));
      below.push_back(value);
      return below.size() - 1;
    };
    for (const auto& each : *tied)
      first.partition.push_back(add(each));
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto& how = from.rows->order_by[i];
      first.order.push_back(
          {add(order[i]), how.is_descending, how.nulls_first.value_or(!how.is_descending)});
    }
    first.first = *offset + 1;
    first.last = *offset + *limit;
  }
  auto right = projected(std::move(rows->plan), std::move(below), std::move(names));
  if (has_first) {
    plan_node ranked;
    ranked.at = at;
    ranked.columns = right.columns;
    forget_times(ranked.columns);
    ranked.node = std::move(first);
    ranked.inputs.push_back(std::move(right));
    right = std::move(ranked);
  }

  relation out;
  plan_node joined;
  joined.at = at;
  for (const auto* side : {&input.plan, &right})
    for (auto column : side->columns) {
      column.time = time_kind::none;
      column.window.reset();
      if (kind == join_type::left && side == &right)
        column.type = column.type.nullable();
      joined.columns.push_back(std::move(column));
    }
  for (auto& each : rows->correlations)
    move_columns(each, width);
  joined.node = join_node{kind, all_of(std::move(rows->correlations))};
  joined.inputs.push_back(std::move(input.plan));
  joined.inputs.push_back(std::move(right));

  auto items = identity_items(joined.columns);
  items.resize(width);
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < width; ++i)
    labels.push_back(joined.columns[i].name);
  std::vector<plan_column> selected;
  for (std::size_t i = 0; i < above.size(); ++i)
    selected.push_back({rows->names[i], above[i].type, time_kind::none, std::nullopt});
  if (alias && !alias->columns.empty() &&
      !rename_columns(selected, alias->columns, alias->label.at))
    return std::nullopt;
  out.scope = std::move(input.scope);
  for (std::size_t i = 0; i < above.size(); ++i) {
    out.scope.add(alias ? alias->label.text : std::string(), selected[i].name, above[i].type);
    labels.push_back(selected[i].name);
    items.push_back(std::move(above[i]));
  }
  out.plan = projected(std::move(joined), std::move(items), std::move(labels));
  return out;
}

} // namespace headrace::sql
