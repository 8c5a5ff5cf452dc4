#include "libgraph/sql/bind/expression_binder.hpp"

#include "libgraph/sql/parse/printer.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <utility>

namespace headrace::sql {
namespace {

logical_type with_null(const logical_type& type, bool is_nullable) {
  return is_nullable ? type.nullable() : type.not_null();
}

bool may_be_null(const std::vector<bound_expression>& of) {
  return std::any_of(of.begin(), of.end(),
                     [](const bound_expression& each) { return each.type.is_nullable(); });
}

std::vector<bound_expression> pair_of(bound_expression one, bound_expression other) {
  std::vector<bound_expression> out;
  out.push_back(std::move(one));
  out.push_back(std::move(other));
  return out;
}

bool is_query_test(const expression& of) {
  return std::holds_alternative<in_query>(of.node) || std::holds_alternative<exists>(of.node) ||
         std::holds_alternative<quantified_comparison>(of.node);
}

} // namespace

std::optional<bound_expression> expression_binder::fail(diagnostic_kind kind, std::string message,
                                                        source_span at) {
  findings_.push_back({kind, std::move(message), at});
  return std::nullopt;
}

std::optional<bound_expression> expression_binder::bind(const expression& from) {
  const auto* junction = std::get_if<operation>(&from.node);
  const bool passes_on = junction != nullptr && (junction->kind == operator_kind::and_ ||
                                                 junction->kind == operator_kind::or_);
  null_is_false_ = null_is_false_ && (passes_on || is_query_test(from));
  return std::visit([&](const auto& node) { return bind_node(node, from.at); }, from.node);
}

std::optional<bound_expression> expression_binder::bind_condition(const expression& from,
                                                                  bool null_is_false) {
  null_is_false_ = null_is_false;
  auto out = bind(from);
  null_is_false_ = false;
  if (out && out->type.root() == type_root::null)
    return cast_to(std::move(*out), logical_type::boolean());
  if (out && out->type.root() != type_root::boolean)
    return fail(diagnostic_kind::type_mismatch,
                "expected a condition, found " + out->type.nullable().to_sql(), from.at);
  return out;
}

std::optional<std::vector<bound_expression>>
expression_binder::bind_all(const std::vector<expression>& from) {
  std::vector<bound_expression> out;
  for (const auto& each : from)
    if (auto bound = bind(each))
      out.push_back(std::move(*bound));
  if (out.size() != from.size())
    return std::nullopt;
  return out;
}

bound_expression expression_binder::call(std::string function,
                                         std::vector<bound_expression> arguments, logical_type type,
                                         source_span at) {
  bound_call made;
  made.function = std::move(function);
  made.arguments = std::move(arguments);
  return {std::move(made), std::move(type), at};
}

bound_expression expression_binder::cast_to(bound_expression value, const logical_type& type) {
  if (is_same_but_null(value.type, type))
    return value;
  const auto at = value.at;
  auto made = with_null(type, value.type.is_nullable());
  if (const auto* constant = std::get_if<bound_constant>(&value.node);
      constant != nullptr && !constant->text)
    return {bound_constant{}, std::move(made), at};
  std::vector<bound_expression> arguments;
  arguments.push_back(std::move(value));
  return call("CAST", std::move(arguments), std::move(made), at);
}

bool expression_binder::cast_to_compare(bound_expression& left, bound_expression& right) {
  const logical_type both[] = {left.type, right.type};
  auto common = common_type(both);
  if (!common && is_comparable(left.type, right.type))
    common = is_character(left.type.root()) ? right.type : left.type;
  if (!common)
    return false;
  const bool is_exact = common->root() != type_root::decimal ||
                        (holds_digits(*common, left.type) && holds_digits(*common, right.type));
  for (auto* each : {&left, &right})
    if (is_exact)
      *each = cast_to(std::move(*each), *common);
    else if (is_exact_integer(each->type.root()))
      *each = cast_to(std::move(*each), decimal_of(each->type));
  return true;
}

bool expression_binder::align(bound_expression& left, bound_expression& right,
                              std::string_view sign, source_span at) {
  if (cast_to_compare(left, right))
    return true;
  fail(diagnostic_kind::type_mismatch,
       "cannot compare by " + std::string(sign) + ": " + left.type.nullable().to_sql() + " and " +
           right.type.nullable().to_sql() + "; CAST one side",
       at);
  return false;
}

std::optional<bound_expression> expression_binder::bind_node(const operation& from,
                                                             source_span at) {
  switch (from.kind) {
  case operator_kind::and_:
    return bind_logic(from, "AND", at);
  case operator_kind::or_:
    return bind_logic(from, "OR", at);
  case operator_kind::not_:
    return bind_logic(from, "NOT", at);
  case operator_kind::is_true:
    return bind_logic(from, "IS TRUE", at);
  case operator_kind::is_not_true:
    return bind_logic(from, "IS NOT TRUE", at);
  case operator_kind::is_false:
    return bind_logic(from, "IS FALSE", at);
  case operator_kind::is_not_false:
    return bind_logic(from, "IS NOT FALSE", at);
  case operator_kind::is_unknown:
    return bind_logic(from, "IS UNKNOWN", at);
  case operator_kind::is_not_unknown:
    return bind_logic(from, "IS NOT UNKNOWN", at);
  case operator_kind::equal:
    return bind_comparison(from, "=", at);
  case operator_kind::not_equal:
    return bind_comparison(from, "<>", at);
  case operator_kind::less:
    return bind_comparison(from, "<", at);
  case operator_kind::less_or_equal:
    return bind_comparison(from, "<=", at);
  case operator_kind::greater:
    return bind_comparison(from, ">", at);
  case operator_kind::greater_or_equal:
    return bind_comparison(from, ">=", at);
  case operator_kind::is_distinct_from:
    return bind_comparison(from, "IS DISTINCT FROM", at);
  case operator_kind::is_not_distinct_from:
    return bind_comparison(from, "IS NOT DISTINCT FROM", at);
  case operator_kind::overlaps:
    return bind_overlaps(from, at);
  case operator_kind::is_json:
  case operator_kind::is_not_json:
  case operator_kind::is_json_object:
  case operator_kind::is_not_json_object:
  case operator_kind::is_json_array:
  case operator_kind::is_not_json_array:
  case operator_kind::is_json_scalar:
  case operator_kind::is_not_json_scalar:
    return bind_is_json(from, at);
  default:
    break;
  }
  // A sign before a number belongs to it: -2147483648 is an INT.
  if (from.kind == operator_kind::negate || from.kind == operator_kind::positive)
    if (const auto* number = std::get_if<literal>(&from.operands[0].node))
      if (number->kind == literal_kind::integer || number->kind == literal_kind::decimal ||
          number->kind == literal_kind::approximate)
        return bind_number(*number, from.kind == operator_kind::negate, at);
  auto operands = bind_all(from.operands);
  if (!operands)
    return std::nullopt;
  const bool is_nullable = may_be_null(*operands);
  const auto mismatch = [&](std::string_view sign) {
    std::string shown;
    for (const auto& each : *operands)
      shown += (shown.empty() ? "" : " and ") + each.type.nullable().to_sql();
    return fail(diagnostic_kind::type_mismatch,
                "no operator " + std::string(sign) + " for " + shown,
                from.sign.is_known() ? from.sign : at);
  };
  const auto arithmetic = [&](std::string_view sign) -> maybe {
    auto type = arithmetic_type(from.kind, (*operands)[0].type, (*operands)[1].type);
    if (!type)
      return mismatch(sign);
    return call(std::string(sign), std::move(*operands), std::move(*type), at);
  };
  switch (from.kind) {
  case operator_kind::is_null:
    return call("IS NULL", std::move(*operands), logical_type::boolean().not_null(), at);
  case operator_kind::is_not_null:
    return call("IS NOT NULL", std::move(*operands), logical_type::boolean().not_null(), at);
  case operator_kind::plus:
    return arithmetic("+");
  case operator_kind::minus:
    return arithmetic("-");
  case operator_kind::times:
    return arithmetic("*");
  case operator_kind::divide:
    return arithmetic("/");
  case operator_kind::modulo:
    return arithmetic("%");
  case operator_kind::negate:
  case operator_kind::positive: {
    const auto type = (*operands)[0].type;
    if (!is_numeric(type.root()) && !is_interval(type.root()))
      return mismatch(from.kind == operator_kind::negate ? "-" : "+");
    if (from.kind == operator_kind::positive)
      return std::move((*operands)[0]);
    return call("NEGATE", std::move(*operands), type, at);
  }
  case operator_kind::concat: {
    for (auto& each : *operands) {
      if (!is_character(each.type.root()) && each.type.root() != type_root::null)
        return mismatch("||");
      each = cast_to(std::move(each), logical_type::string());
    }
    return call("||", std::move(*operands), with_null(logical_type::string(), is_nullable), at);
  }
  default:
    return fail(diagnostic_kind::unsupported, "operator is not supported", at);
  }
}

std::optional<bound_expression>
expression_binder::bind_logic(const operation& from, std::string_view word, source_span at) {
  const bool is_junction = word == "AND" || word == "OR";
  const bool null_is_false = (std::exchange(null_is_false_, false) && is_junction) ||
                             word == "IS TRUE" || word == "IS NOT TRUE";
  std::vector<bound_expression> operands;
  for (const auto& each : from.operands)
    if (auto bound = bind_condition(each, null_is_false))
      operands.push_back(std::move(*bound));
  if (operands.size() != from.operands.size())
    return std::nullopt;
  const bool is_nullable = !word.starts_with("IS") && may_be_null(operands);
  return call(std::string(word), std::move(operands),
              with_null(logical_type::boolean(), is_nullable), at);
}

std::optional<bound_expression>
expression_binder::bind_comparison(const operation& from, std::string_view sign, source_span at) {
  auto operands = bind_all(from.operands);
  if (!operands)
    return std::nullopt;
  if (!align((*operands)[0], (*operands)[1], sign, from.sign))
    return std::nullopt;
  const bool is_nullable = !sign.starts_with("IS") && may_be_null(*operands);
  return call(std::string(sign), std::move(*operands),
              with_null(logical_type::boolean(), is_nullable), at);
}

/// low <= value AND value <= high; SYMMETRIC takes the bounds in either order.
std::optional<bound_expression> expression_binder::bind_node(const between& from, source_span at) {
  auto value = bind(*from.value);
  auto low = bind(*from.low);
  auto high = bind(*from.high);
  if (!value || !low || !high)
    return std::nullopt;
  const auto compare = [&](const bound_expression& bound, std::string_view sign) -> maybe {
    auto left = *value;
    auto right = bound;
    if (!align(left, right, "BETWEEN", at))
      return std::nullopt;
    auto both = pair_of(std::move(left), std::move(right));
    const bool is_nullable = may_be_null(both);
    return call(std::string(sign), std::move(both), with_null(logical_type::boolean(), is_nullable),
                at);
  };
  const auto both_of = [&](std::string_view word, maybe one, maybe other) -> maybe {
    if (!one || !other)
      return std::nullopt;
    auto both = pair_of(std::move(*one), std::move(*other));
    const bool is_nullable = may_be_null(both);
    return call(std::string(word), std::move(both), with_null(logical_type::boolean(), is_nullable),
                at);
  };
  auto out = both_of("AND", compare(*low, ">="), compare(*high, "<="));
  if (out && from.is_symmetric)
    out = both_of("OR", std::move(out), both_of("AND", compare(*high, ">="), compare(*low, "<=")));
  if (!out || !from.is_negated)
    return out;
  auto type = out->type;
  std::vector<bound_expression> inner;
  inner.push_back(std::move(*out));
  return call("NOT", std::move(inner), std::move(type), at);
}

std::optional<bound_expression> expression_binder::bind_node(const like& from, source_span at) {
  std::vector<expression> parts{*from.value, *from.pattern};
  if (from.escape)
    parts.push_back(**from.escape);
  auto bound = bind_all(parts);
  if (!bound)
    return std::nullopt;
  const std::string word = from.kind == like_kind::like ? "LIKE" : "SIMILAR TO";
  for (auto& each : *bound) {
    if (!is_character(each.type.root()) && each.type.root() != type_root::null)
      return fail(diagnostic_kind::type_mismatch,
                  word + " takes a STRING, found " + each.type.nullable().to_sql(), each.at);
    each = cast_to(std::move(each), logical_type::string());
  }
  const auto type = with_null(logical_type::boolean(), may_be_null(*bound));
  return call(from.is_negated ? "NOT " + word : word, std::move(*bound), type, at);
}

/// v = a OR v = b, or v <> a AND v <> b.
bound_expression expression_binder::compare_each(const bound_expression& value,
                                                 std::vector<bound_expression> items,
                                                 bool is_negated, source_span at) {
  std::vector<bound_expression> tests;
  for (auto& each : items) {
    auto left = value;
    cast_to_compare(left, each);
    auto both = pair_of(std::move(left), std::move(each));
    const auto type = with_null(logical_type::boolean(), may_be_null(both));
    tests.push_back(call(is_negated ? "<>" : "=", std::move(both), type, at));
  }
  return junction(is_negated ? "AND" : "OR", std::move(tests), at);
}

/// AND or OR of them; the only one as it is.
bound_expression expression_binder::junction(std::string_view word,
                                             std::vector<bound_expression> operands,
                                             source_span at) {
  if (operands.size() == 1)
    return std::move(operands[0]);
  const auto type = with_null(logical_type::boolean(), may_be_null(operands));
  return call(std::string(word), std::move(operands), type, at);
}

/// (a, b) IN ((1, 2), …): that the values are equal one by one. Nothing where no rows are written.
std::optional<std::optional<bound_expression>> expression_binder::bind_in_rows(const in_list& from,
                                                                               source_span at) {
  const auto* row = std::get_if<row_constructor>(&from.value->node);
  if (row == nullptr)
    return std::nullopt;
  std::vector<const row_constructor*> items;
  for (const auto& each : from.items) {
    const auto* item = std::get_if<row_constructor>(&each.node);
    if (item == nullptr)
      return std::nullopt; // a value of type ROW
    items.push_back(item);
    if (item->items.size() != row->items.size())
      return fail(diagnostic_kind::type_mismatch,
                  "row behind IN has " + std::to_string(row->items.size()) + " values, found " +
                      std::to_string(item->items.size()),
                  each.at);
  }
  const auto values = bind_all(row->items);
  std::vector<bound_expression> rows;
  for (const auto* each : items) {
    auto fields = bind_all(each->items);
    if (!values || !fields)
      continue;
    std::vector<bound_expression> equal;
    for (std::size_t i = 0; i < fields->size(); ++i) {
      auto left = (*values)[i];
      const auto place = (*fields)[i].at;
      if (!align(left, (*fields)[i], "IN", place))
        return maybe();
      auto both = pair_of(std::move(left), std::move((*fields)[i]));
      const auto type = with_null(logical_type::boolean(), may_be_null(both));
      equal.push_back(call("=", std::move(both), type, place));
    }
    rows.push_back(junction("AND", std::move(equal), at));
  }
  if (rows.size() != items.size())
    return maybe();
  auto out = junction("OR", std::move(rows), at);
  if (!from.is_negated)
    return maybe(std::move(out));
  const auto type = out.type;
  std::vector<bound_expression> inner;
  inner.push_back(std::move(out));
  return maybe(call("NOT", std::move(inner), type, at));
}

std::optional<bound_expression> expression_binder::bind_node(const in_list& from, source_span at) {
  if (auto rows = bind_in_rows(from, at))
    return *std::move(rows);
  auto value = bind(*from.value);
  auto items = bind_all(from.items);
  if (!value || !items)
    return std::nullopt;
  std::vector<logical_type> types{value->type};
  for (const auto& each : *items)
    types.push_back(each.type);
  auto common = common_type(types);
  if (!common) {
    // The one that does not fit is named.
    for (const auto& each : *items)
      if (!is_comparable(value->type, each.type))
        return fail(diagnostic_kind::type_mismatch,
                    "cannot compare by IN: " + value->type.nullable().to_sql() + " and " +
                        each.type.nullable().to_sql() + "; CAST one side",
                    each.at);
    common = is_character(value->type.root()) ? (*items)[0].type : value->type;
  }
  if (common->root() == type_root::decimal &&
      std::any_of(types.begin(), types.end(),
                  [&](const logical_type& each) { return !holds_digits(*common, each); }))
    return compare_each(*value, std::move(*items), from.is_negated, at);
  std::vector<bound_expression> arguments;
  arguments.push_back(cast_to(std::move(*value), *common));
  for (auto& each : *items)
    arguments.push_back(cast_to(std::move(each), *common));
  const auto type = with_null(logical_type::boolean(), may_be_null(arguments));
  return call(from.is_negated ? "NOT IN" : "IN", std::move(arguments), type, at);
}

std::optional<bound_expression> expression_binder::bind_node(const case_expression& from,
                                                             source_span at) {
  std::vector<bound_expression> conditions;
  std::vector<bound_expression> results;
  bool is_sound = true;
  for (const auto& branch : from.branches) {
    // CASE x WHEN 1, 2 is CASE WHEN x = 1 OR x = 2.
    std::vector<expression> tests;
    for (const auto& each : branch.conditions) {
      if (!from.operand) {
        tests.push_back(each);
        continue;
      }
      operation equal;
      equal.kind = operator_kind::equal;
      equal.operands = {**from.operand, each};
      equal.sign = each.at;
      tests.push_back({std::move(equal), each.at});
    }
    expression test = tests[0];
    if (tests.size() > 1) {
      operation either;
      either.kind = operator_kind::or_;
      either.operands = std::move(tests);
      test = {std::move(either), branch.conditions[0].at};
    }
    auto condition = bind_condition(test, true);
    auto result = bind(branch.value);
    is_sound &= condition.has_value() && result.has_value();
    if (condition && result) {
      conditions.push_back(std::move(*condition));
      results.push_back(std::move(*result));
    }
  }
  if (from.otherwise) {
    auto result = bind(**from.otherwise);
    is_sound &= result.has_value();
    if (result)
      results.push_back(std::move(*result));
  } else {
    results.push_back({bound_constant{}, logical_type::null(), at});
  }
  if (!is_sound)
    return std::nullopt;
  std::vector<logical_type> types;
  for (const auto& each : results)
    types.push_back(each.type);
  auto type = common_type(types);
  if (!type) {
    std::string shown;
    for (const auto& each : types)
      shown += (shown.empty() ? "" : ", ") + each.nullable().to_sql();
    return fail(diagnostic_kind::type_mismatch, "results of CASE have no type in common: " + shown,
                at);
  }
  std::vector<bound_expression> arguments;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (i < conditions.size())
      arguments.push_back(std::move(conditions[i]));
    arguments.push_back(cast_to(std::move(results[i]), *type));
  }
  return call("CASE", std::move(arguments), std::move(*type), at);
}

std::optional<bound_expression> expression_binder::bind_node(const cast& from, source_span at) {
  auto value = bind(*from.value);
  const auto type = resolve_type(from.type, findings_);
  if (!value || !type)
    return std::nullopt;
  if (!is_castable(value->type, *type))
    return fail(
        diagnostic_kind::type_mismatch,
        "cannot cast " + value->type.nullable().to_sql() + " to " + type->nullable().to_sql(), at);
  const bool is_nullable = from.is_try || value->type.is_nullable();
  if (is_same_but_null(value->type, *type)) {
    value->at = at;
    return value;
  }
  std::vector<bound_expression> arguments;
  arguments.push_back(std::move(*value));
  return call(from.is_try ? "TRY_CAST" : "CAST", std::move(arguments),
              with_null(*type, is_nullable), at);
}

} // namespace headrace::sql
