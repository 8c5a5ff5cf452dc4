#include "libgraph/expression/program.hpp"
#include "libgraph/job_graph/aggregation_check.hpp"
#include "libgraph/spec/match_types.hpp"

#include <algorithm>
#include <utility>

namespace headrace::graph {
namespace {

error invalid(const std::string& where, const std::string& what) {
  return {errc::invalid_graph, where + ": " + what};
}

status check_variables(const std::string& where, const match_spec& spec) {
  std::int64_t states = 0;
  for (const auto& each : spec.variables) {
    const bool is_sound =
        each.repeat_min >= 0 &&
        (each.repeat_max == -1 || (each.repeat_max >= 1 && each.repeat_max >= each.repeat_min));
    if (!is_sound)
      return invalid(where, "pattern variable " + each.name +
                                " has no such repetitions: " + std::to_string(each.repeat_min) +
                                " to " + std::to_string(each.repeat_max));
    states += std::max(each.repeat_min, each.repeat_max) + 1;
  }
  if (states > match_spec::states_max)
    return invalid(where, "pattern has more than " + std::to_string(match_spec::states_max) +
                              " repetitions: " + std::to_string(states));
  if (std::ranges::all_of(spec.variables, [](const auto& each) { return each.repeat_min == 0; }))
    return invalid(where, "pattern without a variable that takes a row");
  if (spec.variables.back().is_greedy)
    return invalid(where, "last variable of a pattern is greedy: " + spec.variables.back().name);
  return {};
}

status check_value(const std::string& where, const match_spec& spec, const pattern_value& value,
                   const logical_type& in) {
  const auto count = static_cast<std::int32_t>(spec.variables.size());
  if (value.variable < -1 || value.variable >= count || value.offset < 0)
    return invalid(where, "value of a pattern out of range: variable " +
                              std::to_string(value.variable) + ", offset " +
                              std::to_string(value.offset));
  const auto mismatch = [&] {
    return error(errc::type_mismatch,
                 where + ": value of a pattern as another type: " + value.type.to_sql());
  };
  switch (value.what) {
  case pattern_value::kind::first:
  case pattern_value::kind::last:
    if (value.column < 0 || static_cast<std::size_t>(value.column) >= in.child_count())
      return invalid(where, "column of a pattern out of range: " + std::to_string(value.column));
    if (!(in.child(static_cast<std::size_t>(value.column)).nullable() == value.type.nullable()))
      return mismatch();
    return {};
  case pattern_value::kind::match_time:
    if (spec.time_column < 0)
      return invalid(where, "time of matches of rows without a time");
    if (value.type.root() != type_root::timestamp && value.type.root() != type_root::timestamp_ltz)
      return mismatch();
    return {};
  case pattern_value::kind::aggregate:
    break;
  }
  for (const auto& each : value.arguments)
    if (each.is_empty())
      return invalid(where, "aggregate without an argument: " + value.function);
  auto made = expression_program::compile(in, {}, value.arguments, {spec.time_zone});
  if (!made)
    return error(made.error().code, where + ": " + made.error().message);
  if (lists_values(value.function))
    return invalid(where, "aggregate cannot be run over the rows of a match: " + value.function);
  return check_group_calls(where, {aggregate_call_of(value)}, argument_row_type(value),
                           logical_type::row({{"v", value.type, {}}}), 0);
}

} // namespace

status check_match(const std::string& where, const match_spec& spec, const logical_type& in,
                   const logical_type& out) {
  if (spec.time_column != -1)
    HEADRACE_CHECK(check_time(where, spec.time_column, in));
  HEADRACE_CHECK(check_order(where, spec.order, in));
  if (spec.variables.empty())
    return invalid(where, "pattern without variables");
  HEADRACE_CHECK(check_variables(where, spec));
  if (spec.within_ms < 0)
    return invalid(where, "negative length of matches");
  const bool skips_to_variable =
      spec.skip == match_skip::to_first || spec.skip == match_skip::to_last;
  const auto count = static_cast<std::int32_t>(spec.variables.size());
  if (skips_to_variable ? spec.skip_variable < 0 || spec.skip_variable >= count
                        : spec.skip_variable != -1)
    return invalid(where, "skips to no variable: " + std::to_string(spec.skip_variable));
  for (const auto& each : spec.values)
    HEADRACE_CHECK(check_value(where, spec, each, in));
  const auto row = match_row_type(spec, in);
  const auto compile = [&](const expression& condition,
                           std::span<const expression> outputs) -> status {
    auto made = expression_program::compile(row, condition, outputs, {spec.time_zone});
    return made ? status() : status(error(made.error().code, where + ": " + made.error().message));
  };
  for (const auto& each : spec.variables)
    if (!each.condition.is_empty())
      HEADRACE_CHECK(compile(each.condition, {}));
  if (spec.measures.size() != out.child_count())
    return invalid(where, std::to_string(spec.measures.size()) + " measures for " +
                              std::to_string(out.child_count()) + " columns");
  for (const auto& each : spec.measures)
    for (const auto& node : each.nodes)
      if (const auto* column = std::get_if<input_column>(&node.form);
          column != nullptr && column->index < in.child_count())
        return invalid(where, "measure over a column of no row: " + std::to_string(column->index));
  for (std::size_t i = 0; i < spec.measures.size(); ++i)
    if (spec.measures[i].is_empty() || !(spec.measures[i].type() == out.child(i)))
      return error(errc::type_mismatch,
                   where + ": measure " + std::to_string(i) + " is computed as another type");
  return compile({}, spec.measures);
}

} // namespace headrace::graph
