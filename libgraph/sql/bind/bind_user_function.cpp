#include "libgraph/sql/bind/expression_binder.hpp"

#include <algorithm>

// Calls of users' functions.
namespace headrace::sql {

/// The arguments in the order of the parameters, which they may name.
std::optional<std::vector<const expression*>>
expression_binder::place_arguments(const function_call& from, const graph::user_function& of) {
  const auto count = from.arguments.size();
  if (count != of.parameters.size()) {
    fail(diagnostic_kind::type_mismatch,
         of.name + " takes " + std::to_string(of.parameters.size()) +
             (of.parameters.size() == 1 ? " argument" : " arguments") + ", found " +
             std::to_string(count),
         from.function.at);
    return std::nullopt;
  }
  std::vector<const expression*> out(count, nullptr);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& given = from.arguments[i];
    auto place = i;
    if (given.label) {
      const auto named =
          std::find_if(of.parameters.begin(), of.parameters.end(),
                       [&](const auto& each) { return each.name == given.label->text; });
      if (named == of.parameters.end()) {
        fail(diagnostic_kind::unknown_name,
             of.name + " has no parameter called " + given.label->text, given.label->at);
        return std::nullopt;
      }
      place = static_cast<std::size_t>(named - of.parameters.begin());
    }
    if (out[place] != nullptr) {
      fail(diagnostic_kind::invalid, "parameter is given twice: " + of.parameters[place].name,
           given.value.at);
      return std::nullopt;
    }
    out[place] = &given.value;
  }
  return out;
}

std::optional<std::vector<bound_expression>>
expression_binder::bind_arguments(const function_call& from, const graph::user_function& of) {
  const auto given = place_arguments(from, of);
  if (!given)
    return std::nullopt;
  std::vector<bound_expression> out;
  for (std::size_t i = 0; i < given->size(); ++i) {
    auto value = bind(*(*given)[i]);
    if (!value)
      continue;
    const auto& wanted = of.parameters[i].type;
    if (!is_implicitly_castable(value->type, wanted)) {
      fail(diagnostic_kind::type_mismatch,
           "argument " + std::to_string(i + 1) + " of " + of.name + " is " +
               wanted.nullable().to_sql() + ", found " + value->type.nullable().to_sql() +
               "; CAST it",
           value->at);
      continue;
    }
    if (!wanted.is_nullable() && value->type.is_nullable()) {
      fail(diagnostic_kind::type_mismatch,
           "argument " + std::to_string(i + 1) + " of " + of.name + " is " + wanted.to_sql() +
               ", and the value may be NULL: COALESCE it",
           value->at);
      continue;
    }
    out.push_back(cast_to(std::move(*value), wanted));
  }
  return out.size() == given->size() ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<bound_expression>
expression_binder::bind_user_call(const function_call& from,
                                  std::shared_ptr<const graph::user_function> function,
                                  source_span at) {
  const auto& name = function->name;
  const bool is_aggregate = function->form == graph::user_form::aggregate;
  if (function->form == graph::user_form::table)
    return fail(diagnostic_kind::invalid,
                "a table function stands in FROM: LATERAL TABLE(" + name + "(…))", at);
  if (from.over)
    return fail(diagnostic_kind::unsupported,
                "a user's function with OVER is not supported: " + name, at);
  if (!from.within_group.empty() || from.nulls != null_treatment::unsaid)
    return fail(diagnostic_kind::unsupported,
                "WITHIN GROUP and the treatment of NULLs are not supported here", at);
  if (is_aggregate && (!allows_aggregates_ || is_in_aggregate_))
    return fail(diagnostic_kind::invalid,
                is_in_aggregate_ ? "an aggregate does not stand inside another one: " + name
                                 : "an aggregate does not stand here: " + name,
                at);
  if (!is_aggregate && (from.is_distinct || from.filter))
    return fail(diagnostic_kind::invalid, "DISTINCT and FILTER are for aggregates: " + name, at);
  const bool was_in_aggregate = is_in_aggregate_;
  is_in_aggregate_ |= is_aggregate;
  auto arguments = bind_arguments(from, *function);
  maybe filter;
  bool is_sound = arguments.has_value();
  if (from.filter) {
    filter = bind_condition(**from.filter);
    is_sound &= filter.has_value();
  }
  is_in_aggregate_ = was_in_aggregate;
  if (!is_sound)
    return std::nullopt;
  if (from.is_distinct && arguments->size() != 1)
    return fail(diagnostic_kind::unsupported, "DISTINCT is for aggregates of one argument: " + name,
                at);
  bound_call out;
  out.function = "`" + name + "`";
  out.arguments = std::move(*arguments);
  out.is_aggregate = is_aggregate;
  out.is_distinct = from.is_distinct;
  if (filter)
    out.filter = std::move(*filter);
  const auto type = function->result;
  out.user = std::move(function);
  return bound_expression{std::move(out), type, at};
}

} // namespace headrace::sql
