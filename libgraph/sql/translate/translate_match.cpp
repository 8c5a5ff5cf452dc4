#include "libgraph/job_graph/aggregation_check.hpp"
#include "libgraph/sql/optimize/changelog.hpp"
#include "libgraph/sql/translate/translator.hpp"

#include <algorithm>

namespace headrace::sql {
namespace {

graph::match_skip skip_of(match_skip from) {
  switch (from) {
  case match_skip::past_last_row:
    return graph::match_skip::past_last_row;
  case match_skip::to_first:
    return graph::match_skip::to_first;
  case match_skip::to_last:
    return graph::match_skip::to_last;
  default:
    return graph::match_skip::to_next_row;
  }
}

std::int32_t variable_of(const std::optional<std::size_t>& from) {
  return from ? static_cast<std::int32_t>(*from) : -1;
}

} // namespace

std::optional<graph::pattern_value> job_translator::value_of(const pattern_value& from,
                                                             source_span at) {
  if (graph::lists_values(from.function) || from.function.starts_with("JSON_"))
    return not_yet(from.function + " over the rows of a match", at);
  graph::pattern_value out;
  out.what = static_cast<graph::pattern_value::kind>(from.what);
  out.variable = variable_of(from.variable);
  out.offset = from.offset;
  if (from.what == pattern_value::kind::first || from.what == pattern_value::kind::last)
    out.column = static_cast<std::int32_t>(from.column);
  out.function = from.function;
  out.type = from.type;
  for (const auto& each : from.arguments) {
    auto argument = expression_of(each);
    if (!argument)
      return std::nullopt;
    out.arguments.push_back(std::move(*argument));
  }
  return out;
}

bool job_translator::add_variables(const match_node& node, graph::match_spec& out) {
  bool is_sound = true;
  for (const auto& each : node.variables) {
    graph::pattern_variable made;
    made.name = each.name;
    made.repeat_min = each.repeat_min;
    made.repeat_max = each.repeat_max.value_or(-1);
    made.is_greedy = each.is_greedy;
    if (each.condition) {
      auto condition = expression_of(*each.condition);
      is_sound &= condition.has_value();
      if (condition)
        made.condition = std::move(*condition);
    }
    out.variables.push_back(std::move(made));
  }
  return is_sound;
}

maybe_index job_translator::make(const match_node& node, const plan_node& plan) {
  const auto& input = plan.inputs[0];
  if (const auto* updating = find_updating(input))
    return fail(diagnostic_kind::unsupported,
                "MATCH_RECOGNIZE does not take rows that are updated or taken back, as those of "
                "this are",
                updating->at);
  auto below = visit(input);
  if (!below)
    return std::nullopt;
  graph::match_spec spec;
  spec.time_zone = settings_.time_zone;
  spec.within_ms = node.within_ms;
  spec.skip = skip_of(node.skip);
  spec.skip_variable = variable_of(node.skip_variable);
  const auto time = node.order[0].column;
  if (input.columns[time].time == time_kind::row_time)
    spec.time_column = static_cast<std::int32_t>(time);
  auto order = order_of({node.order.begin() + 1, node.order.end()}, input, plan.at);
  bool is_sound = order.has_value();
  if (order)
    spec.order = std::move(*order);
  for (const auto& each : node.values) {
    auto value = value_of(each, plan.at);
    is_sound &= value.has_value();
    if (value)
      spec.values.push_back(std::move(*value));
  }
  is_sound &= add_variables(node, spec);
  spec.key_columns = numbers(node.partition);
  auto type = input.row_type();
  const auto keyed = add_keyed(*below, type, spec.key_columns);
  // Values come behind the columns of the rows, which have perhaps the constant key, too.
  const auto moved = type.child_count() - input.columns.size();
  const auto move = [&](graph::expression& in) {
    for (auto& each : in.nodes)
      if (auto* column = std::get_if<graph::input_column>(&each.form);
          column != nullptr && column->index >= input.columns.size())
        column->index += static_cast<std::uint32_t>(moved);
  };
  for (auto& each : spec.variables)
    move(each.condition);
  for (const auto column : node.partition) {
    graph::pattern_value key;
    key.column = static_cast<std::int32_t>(column);
    key.type = input.columns[column].type;
    const auto place = type.child_count() + spec.values.size();
    spec.measures.push_back(graph::make_column(static_cast<std::uint32_t>(place), key.type));
    spec.values.push_back(std::move(key));
  }
  for (const auto& each : node.measures) {
    auto measure = expression_of(each);
    is_sound &= measure.has_value();
    if (!measure)
      continue;
    move(*measure);
    spec.measures.push_back(std::move(*measure));
  }
  if (!is_sound)
    return std::nullopt;
  const auto made = add("match", std::move(spec), {keyed}, plan.row_type());
  if (node.partition.empty())
    out_.program.at(made).parallelism = 1;
  return made;
}

} // namespace headrace::sql
