#include "libgraph/sql/plan/query_planner.hpp"
#include "libgraph/sql/plan/sub_query_parts.hpp"

#include <algorithm>
#include <utility>

// IN (query), EXISTS, ANY and ALL where they are no conditions of WHERE by themselves: what is to
// be known of the query's rows is an aggregate of them, joined to each row around.
namespace headrace::sql {
namespace {

expression one_of(source_span at) {
  literal one;
  one.kind = literal_kind::integer;
  one.text = "1";
  return {std::move(one), at};
}

expression aggregate(std::string_view function, expression of) {
  const auto at = of.at;
  function_call made;
  made.function = {{{std::string(function), at}}, at};
  made.arguments.push_back({std::nullopt, std::move(of)});
  return {std::move(made), at};
}

/// 1 where there is a row; NULL where there is none. It changes with the first and the last alone.
expression any_row(source_span at) { return aggregate("MAX", one_of(at)); }

/// 1 where a row has NULL.
expression any_null(const expression& item) {
  operation is_null;
  is_null.kind = operator_kind::is_null;
  is_null.operands = {item};
  is_null.sign = item.at;
  when_branch branch{{{std::move(is_null), item.at}}, one_of(item.at)};
  case_expression out;
  out.branches.push_back(std::move(branch));
  return aggregate("MAX", {std::move(out), item.at});
}

/// Rows of a query to be asked of, and what their columns are there.
struct asked_rows {
  query rows; ///< plain
  std::vector<expression> items;

  /// The same rows, as what the aggregates tell of them.
  query facts(std::vector<expression> aggregates) const {
    auto out = rows;
    auto& list = std::get<select>(out.body).items;
    list.clear();
    for (auto& each : aggregates)
      list.push_back({std::move(each), std::nullopt});
    return out;
  }
};

/// @param width  how many columns the query is to have; 0: any
asked_rows asked(const query& from, std::size_t width) {
  asked_rows out;
  if (is_plain(from)) {
    const auto& items = std::get<select>(from.body).items;
    const bool has_star = std::any_of(items.begin(), items.end(), [](const auto& each) {
      return std::holds_alternative<star>(each.value.node);
    });
    if (width == 0 || (!has_star && items.size() == width)) {
      out.rows = from;
      out.rows.order_by.clear();
      auto& body = std::get<select>(out.rows.body);
      body.is_distinct = false; // a row twice is there
      if (width > 0)
        for (const auto& each : items)
          out.items.push_back(each.value);
      return out;
    }
  }
  const name label{"$rows", from.at};
  std::vector<name> columns;
  for (std::size_t i = 0; i < width; ++i) {
    columns.push_back({"$value" + std::to_string(i), from.at});
    out.items.push_back({column_reference{{{label, columns.back()}, from.at}}, from.at});
  }
  table_expression rows;
  rows.node = derived_table{from, false};
  rows.alias = table_alias{label, std::move(columns)};
  rows.at = from.at;
  select body;
  body.from = std::move(rows);
  out.rows.body = std::move(body);
  out.rows.at = from.at;
  return out;
}

bound_expression truth(std::string_view word, source_span at) {
  return {bound_constant{std::string(word), std::nullopt}, logical_type::boolean().not_null(), at};
}

bound_expression is_null(const bound_expression& value, source_span at) {
  return call_of("IS NULL", {value}, logical_type::boolean().not_null(), at);
}
bound_expression is_not_null(const bound_expression& value, source_span at) {
  return call_of("IS NOT NULL", {value}, logical_type::boolean().not_null(), at);
}

bound_expression negated_if(bool is_negated, bound_expression condition) {
  if (!is_negated)
    return condition;
  const auto type = condition.type;
  const auto at = condition.at;
  return call_of("NOT", {std::move(condition)}, type, at);
}

/// TRUE where it was found; else NULL where a NULL might have been it, and FALSE.
/// @param row, null  of the query's rows: NULL where there is none, and none with NULL
bound_expression three_valued(bound_expression found, const bound_expression& value,
                              const bound_expression& row, const bound_expression& null,
                              source_span at) {
  const auto type = logical_type::boolean();
  auto may_be = call_of("OR", {is_null(value, at), is_not_null(null, at)},
                        logical_type::boolean().not_null(), at);
  return call_of("CASE",
                 {std::move(found), truth("TRUE", at), is_null(row, at), truth("FALSE", at),
                  std::move(may_be), bound_expression{bound_constant{}, type, at},
                  truth("FALSE", at)},
                 type, at);
}

std::string_view sign_of(operator_kind kind) {
  switch (kind) {
  case operator_kind::less:
    return "<";
  case operator_kind::less_or_equal:
    return "<=";
  case operator_kind::greater:
    return ">";
  case operator_kind::greater_or_equal:
    return ">=";
  case operator_kind::not_equal:
    return "<>";
  default:
    return "=";
  }
}

operator_kind inverse_of(operator_kind kind) {
  switch (kind) {
  case operator_kind::less:
    return operator_kind::greater_or_equal;
  case operator_kind::less_or_equal:
    return operator_kind::greater;
  case operator_kind::greater:
    return operator_kind::less_or_equal;
  case operator_kind::greater_or_equal:
    return operator_kind::less;
  case operator_kind::equal:
    return operator_kind::not_equal;
  default:
    return operator_kind::equal;
  }
}

} // namespace

void query_planner::allow_queries(expression_binder& binder, relation& input) {
  binder.set_query_values([this, &input](const subquery& each, source_span at) {
    return plan_query_value(input, each, at);
  });
  binder.set_query_tests([this, &input](const expression& each, bool null_is_false) {
    return plan_query_test(input, each, null_is_false);
  });
}

std::optional<bound_expression>
query_planner::plan_query_test(relation& input, const expression& test, bool null_is_false) {
  if (const auto* found = std::get_if<exists>(&test.node))
    return plan_exists_test(input, *found, test.at);
  if (const auto* found = std::get_if<in_query>(&test.node))
    return plan_in_test(input, *found, null_is_false, test.at);
  const auto& compared = std::get<quantified_comparison>(test.node);
  const bool is_in = compared.kind == operator_kind::equal && !compared.is_all;
  const bool is_not_in = compared.kind == operator_kind::not_equal && compared.is_all;
  return is_in || is_not_in ? plan_in_test(input, {is_not_in, compared.value, *compared.rows},
                                           null_is_false, test.at)
                            : plan_comparison_test(input, compared, null_is_false, test.at);
}

std::optional<std::vector<bound_expression>>
query_planner::plan_facts(relation& input, const query& of, const query& facts, source_span at,
                          matched_values* matched) {
  const auto known = findings_.size();
  auto out = plan_aggregate_row(input, facts, at, matched);
  if (out || is_plain(of) || !names_around(of, input.scope))
    return out;
  findings_.erase(findings_.begin() + static_cast<std::ptrdiff_t>(known), findings_.end());
  return unsupported("a query about rows of the one around it is SELECT … FROM … WHERE …: WITH, "
                     "GROUP BY, HAVING, LIMIT and the like are not supported there",
                     of.at);
}

std::optional<bound_expression> query_planner::plan_exists_test(relation& input, const exists& from,
                                                                source_span at) {
  if (is_aggregate_row(*from.rows)) { // there is always the row: it is planned to be checked alone
    auto probe = input;
    return plan_aggregate_row(probe, *from.rows, at) ? std::optional(truth("TRUE", at))
                                                     : std::nullopt;
  }
  const auto facts = plan_facts(input, *from.rows, asked(*from.rows, 0).facts({any_row(at)}), at);
  return facts ? std::optional(is_not_null(facts->front(), at)) : std::nullopt;
}

/// A value that is looked for among a query's rows.
std::optional<bound_expression> query_planner::bind_tested(relation& input,
                                                           const expression& from) {
  expression_binder binder(input.scope, findings_, &functions_);
  allow_queries(binder, input);
  auto out = binder.bind(from);
  if (out && names_outer(*out))
    return unsupported("a query inside an expression is about rows of the one around it, and of "
                       "none further out",
                       from.at);
  return out;
}

std::optional<bound_expression> query_planner::plan_in_test(relation& input, const in_query& from,
                                                            bool null_is_false, source_span at) {
  matched_values matched;
  const auto* row = std::get_if<row_constructor>(&from.value->node);
  const std::vector<expression> one{*from.value};
  for (const auto& each : row != nullptr ? row->items : one) {
    auto value = bind_tested(input, each);
    if (!value)
      return std::nullopt;
    matched.values.push_back(std::move(*value));
  }
  const auto width = matched.values.size();
  const auto* body = std::get_if<select>(&from.items->body);
  const bool has_star =
      body != nullptr && std::any_of(body->items.begin(), body->items.end(), [](const auto& each) {
        return std::holds_alternative<star>(each.value.node);
      });
  if (body != nullptr && !has_star && body->items.size() != width)
    return fail(diagnostic_kind::invalid,
                "query behind IN has " +
                    (width == 1 ? "one column" : std::to_string(width) + " columns") + ", found " +
                    std::to_string(body->items.size()),
                from.items->at);
  if (is_aggregate_row(*from.items)) {
    auto items = plan_aggregate_row(input, *from.items, at);
    if (!items)
      return std::nullopt;
    std::vector<bound_expression> parts;
    for (std::size_t i = 0; i < width; ++i) {
      auto equal = comparison("=", std::move(matched.values[i]), std::move((*items)[i]), at);
      if (!equal)
        return fail(diagnostic_kind::type_mismatch, "cannot compare by IN; CAST one side", at);
      parts.push_back(std::move(*equal));
    }
    const auto type = logical_type::boolean();
    return negated_if(from.is_negated, width == 1 ? std::move(parts[0])
                                                  : call_of("AND", std::move(parts), type, at));
  }
  auto rows = asked(*from.items, width);
  matched.items = rows.items;
  const auto values = matched.values;
  const auto facts = plan_facts(input, *from.items, rows.facts({any_row(at)}), at, &matched);
  if (!facts)
    return std::nullopt;
  auto found = is_not_null(facts->front(), at);
  if (!matched.may_be_null || (null_is_false && !from.is_negated))
    return negated_if(from.is_negated, std::move(found));
  if (width > 1)
    return unsupported("IN of several columns, of which one may be NULL, is supported where "
                       "nobody tells NULL from FALSE: (…) IN (…) IS TRUE",
                       at);
  const auto all =
      plan_facts(input, *from.items, rows.facts({any_row(at), any_null(rows.items.front())}), at);
  if (!all)
    return std::nullopt;
  return negated_if(from.is_negated,
                    three_valued(std::move(found), values[0], (*all)[0], (*all)[1], at));
}

/// ANY compares with the least or the greatest of the rows; ALL is that no row compares otherwise.
std::optional<bound_expression>
query_planner::plan_comparison_test(relation& input, const quantified_comparison& from,
                                    bool null_is_false, source_span at) {
  const auto value = bind_tested(input, *from.value);
  if (!value)
    return std::nullopt;
  const auto kind = from.is_all ? inverse_of(from.kind) : from.kind;
  const auto compared = [&](operator_kind by,
                            const bound_expression& with) -> std::optional<bound_expression> {
    const auto types = value->type.nullable().to_sql() + " and " + with.type.nullable().to_sql();
    auto out = comparison(std::string(sign_of(by)), *value, with, at);
    if (!out)
      fail(diagnostic_kind::type_mismatch, "cannot compare: " + types + "; CAST one side", at);
    return out;
  };
  const auto& query = **from.rows;
  if (const auto* body = std::get_if<select>(&query.body);
      body != nullptr && body->items.size() != 1)
    return fail(
        diagnostic_kind::invalid,
        "query behind ANY or ALL has one column, found " + std::to_string(body->items.size()), at);
  if (is_aggregate_row(query)) {
    const auto items = plan_aggregate_row(input, query, at);
    return items ? compared(from.kind, items->front()) : std::nullopt;
  }
  const auto rows = asked(query, 1);
  const auto& item = rows.items.front();
  const auto facts = plan_facts(
      input, query,
      rows.facts({aggregate("MIN", item), aggregate("MAX", item), any_row(at), any_null(item)}),
      at);
  if (!facts)
    return std::nullopt;
  const bool is_less = kind == operator_kind::less || kind == operator_kind::less_or_equal;
  auto found = compared(kind, (*facts)[is_less ? 1 : 0]);
  if (found && kind == operator_kind::not_equal)
    if (auto other = compared(kind, (*facts)[1]))
      found = call_of("OR", {std::move(*found), std::move(*other)}, logical_type::boolean(), at);
  if (!found)
    return std::nullopt;
  if (null_is_false && !from.is_all)
    return found;
  return negated_if(from.is_all,
                    three_valued(std::move(*found), *value, (*facts)[2], (*facts)[3], at));
}

} // namespace headrace::sql
