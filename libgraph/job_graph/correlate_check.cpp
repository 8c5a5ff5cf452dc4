#include "libgraph/job_graph/correlate_check.hpp"

#include "libgraph/expression/program.hpp"
#include "libgraph/user_function/user_function.hpp"

#include <utility>
#include <vector>

namespace headrace::graph {
namespace {

error mismatch(const std::string& where, const std::string& what) {
  return {errc::type_mismatch, where + ": " + what};
}

/// Rows of the same columns, whatever they are called.
bool are_alike(const logical_type& one, const logical_type& other) {
  if (one.child_count() != other.child_count())
    return false;
  for (std::size_t i = 0; i < one.child_count(); ++i)
    if (!(one.child(i) == other.child(i)))
      return false;
  return true;
}

status check_unnest(const std::string& where, const correlate_spec& spec) {
  if (spec.function != correlate_spec::unnest || spec.arguments.size() != 1)
    return error(errc::invalid_graph, where + ": UNNEST takes one collection");
  const auto given = unnested_type(spec.arguments[0].type(), spec.has_ordinality);
  if (!given)
    return mismatch(where, "UNNEST takes an ARRAY, a MAP or a MULTISET, found " +
                               spec.arguments[0].type().nullable().to_sql());
  if (!are_alike(*given, spec.result_type))
    return mismatch(where,
                    "UNNEST gives " + given->to_sql() + ", not " + spec.result_type.to_sql());
  return {};
}

/// Each row as often as a column says.
status check_repeat(const std::string& where, const correlate_spec& spec) {
  if (spec.arguments.size() != 1 || spec.arguments[0].type().root() != type_root::bigint)
    return mismatch(where, spec.function + " takes a BIGINT");
  if (spec.result_type.child_count() != 0 || spec.kind != join_kind::inner || spec.has_ordinality)
    return mismatch(where, spec.function + " gives no columns of its own");
  return {};
}

/// A user's table function.
status check_user(const std::string& where, const correlate_spec& spec) {
  HEADRACE_TRY(const auto function, decode_user_function(spec.definition));
  if (function.form != user_form::table || function.parameters.size() != spec.arguments.size() ||
      spec.has_ordinality)
    return error(errc::invalid_graph, where + ": malformed call of " + spec.function);
  for (std::size_t i = 0; i < spec.arguments.size(); ++i)
    if (!(function.parameters[i].type.nullable() == spec.arguments[i].type().nullable()))
      return mismatch(where, "argument " + std::to_string(i + 1) + " of " + spec.function + " is " +
                                 spec.arguments[i].type().to_sql());
  if (!are_alike(function.result, spec.result_type))
    return mismatch(where, spec.function + " gives " + function.result.to_sql());
  return {};
}

} // namespace

std::optional<logical_type> unnested_type(const logical_type& collection, bool has_ordinality) {
  std::vector<logical_type::field> fields;
  const auto add = [&](std::string name, logical_type type) {
    fields.push_back({std::move(name), std::move(type), {}});
  };
  switch (collection.root()) {
  case type_root::array:
  case type_root::multiset: {
    const auto& element = collection.child(0);
    if (element.root() != type_root::row) {
      add("EXPR$0", element);
      break;
    }
    for (const auto& each : element.fields())
      add(each.name, element.is_nullable() ? each.type.nullable() : each.type);
    break;
  }
  case type_root::map:
    add("KEY", collection.child(0));
    add("VALUE", collection.child(1));
    break;
  default:
    return std::nullopt;
  }
  if (has_ordinality)
    add("ORDINALITY", logical_type::integer().not_null());
  return logical_type::row(std::move(fields)).not_null();
}

status check_correlate(const std::string& where, const correlate_spec& spec, const logical_type& in,
                       const logical_type& out) {
  if (spec.kind != join_kind::inner && spec.kind != join_kind::left)
    return error(errc::invalid_graph, where + ": a table function is joined as inner or left");
  for (const auto& each : spec.arguments)
    if (each.is_empty())
      return error(errc::invalid_graph, where + ": an argument is empty");
  auto made = expression_program::compile(in, {}, spec.arguments, {spec.time_zone});
  if (!made)
    return error(made.error().code, where + ": " + made.error().message);
  if (!spec.definition.empty())
    HEADRACE_CHECK(check_user(where, spec));
  else
    HEADRACE_CHECK(spec.function == repeat_function ? check_repeat(where, spec)
                                                    : check_unnest(where, spec));
  if (out.child_count() != spec.passed.size() + spec.fields.size())
    return mismatch(where, std::to_string(spec.passed.size() + spec.fields.size()) +
                               " columns leave as " + std::to_string(out.child_count()));
  for (std::size_t i = 0; i < out.child_count(); ++i) {
    const bool is_passed = i < spec.passed.size();
    const auto place =
        static_cast<std::size_t>(is_passed ? spec.passed[i] : spec.fields[i - spec.passed.size()]);
    auto wanted = is_passed ? in.child(place) : spec.result_type.child(place);
    if (!is_passed && spec.kind == join_kind::left)
      wanted = wanted.nullable();
    if (!(wanted == out.child(i)))
      return mismatch(where, "column " + std::to_string(i) + " leaves as another type: " +
                                 wanted.to_sql() + " to " + out.child(i).to_sql());
  }
  return {};
}

} // namespace headrace::graph
