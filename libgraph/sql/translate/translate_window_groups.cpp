#include "libgraph/job_graph/aggregation_check.hpp"
#include "libgraph/sql/optimize/changelog.hpp"
#include "libgraph/sql/translate/translator.hpp"

#include <algorithm>

// Aggregates of rows that carry their windows.
namespace headrace::sql {
namespace {

/// Whether a call needs more of a group than a few words.
bool needs_states(const graph::group_aggregate_call& call, const logical_type& input) {
  if (call.is_distinct || graph::lists_values(call.function) || !call.definition.empty())
    return true;
  if (call.arguments.empty())
    return false;
  const auto& type = input.child(static_cast<std::size_t>(call.arguments[0]));
  const bool keeps_value = call.function == "MIN" || call.function == "MAX" ||
                           call.function == "FIRST_VALUE" || call.function == "LAST_VALUE";
  return keeps_value &&
         (type.physical() == graph::physical_type::string || type.width_bytes() <= 0);
}

bool is_same_set(std::vector<std::size_t> left, std::vector<std::size_t> right) {
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
  return left == right;
}

/// Keys, results, bounds: what operators of windows give.
logical_type result_type(const logical_type& input, const std::vector<std::int32_t>& keys,
                         const window_aggregate_node& node, const plan_node& plan) {
  std::vector<logical_type::field> out;
  for (const auto each : keys)
    out.push_back(input.fields()[static_cast<std::size_t>(each)]);
  const auto first = node.keys.size() + node.properties.size();
  for (std::size_t i = 0; i < node.items.size(); ++i)
    out.push_back({plan.columns[first + i].name, plan.columns[first + i].type, {}});
  const auto bound = logical_type::timestamp(3).not_null();
  std::vector<logical_type::field> bounds{
      {"window_start", bound, {}},
      {"window_end", bound, {}},
      {"window_time", node.shape.is_zoned ? logical_type::timestamp_ltz(3).not_null() : bound, {}}};
  // As the plan has them, which may be nullable.
  for (std::size_t i = 0; i < node.properties.size(); ++i)
    bounds[static_cast<std::size_t>(node.properties[i])].type =
        plan.columns[node.keys.size() + i].type;
  out.insert(out.end(), bounds.begin(), bounds.end());
  return logical_type::row(std::move(out)).not_null();
}

} // namespace

maybe_index job_translator::add_results(std::int32_t groups, std::size_t key_count,
                                        const window_aggregate_node& node, const plan_node& plan) {
  const auto bounds = key_count + node.items.size();
  std::vector<std::size_t> back = first_numbers(node.keys.size());
  for (const auto each : node.properties)
    back.push_back(bounds + static_cast<std::size_t>(each));
  for (std::size_t i = 0; i < node.items.size(); ++i)
    back.push_back(key_count + i);
  return add("project", graph::project_spec{numbers(back)}, {groups}, plan.row_type());
}

maybe_index job_translator::add_at_once(const window_aggregate_node& node, const plan_node& plan) {
  const auto& input = plan.inputs[0];
  const auto& window = std::get<window_node>(input.node);
  const auto& rows = input.inputs[0];
  const auto below = visit(rows);
  if (!below)
    return std::nullopt;
  auto type = rows.row_type();
  auto keys = numbers(node.keys);
  const auto keyed = add_keyed(*below, type, keys);
  const auto time =
      window.shape.is_processing_time ? -1 : static_cast<std::int32_t>(window.shape.time_column);
  const auto results = result_type(type, keys, node, plan);
  const auto settle = [&](std::int32_t made) {
    if (node.keys.empty())
      out_.program.at(made).parallelism = 1;
    return made;
  };
  if (window.shape.kind == window_function::session) {
    graph::session_group_spec spec;
    spec.key_columns = keys;
    spec.calls = calls_of(node.items);
    spec.window = window_of(window.shape);
    spec.time_column = time;
    const auto made = settle(add("session aggregate", std::move(spec), {keyed}, results));
    keep_late(node, plan, made, type);
    return add_results(made, keys.size(), node, plan);
  }
  graph::window_table_spec table;
  table.window = window_of(window.shape);
  table.time_column = time;
  const auto width = type.child_count();
  auto fields = type.fields();
  const auto all = input.row_type().fields();
  fields.insert(fields.end(), all.end() - 3, all.end());
  fields[width].name = name_of_windows(fields[width].name, input);
  const auto windowed_type = logical_type::row(std::move(fields)).not_null();
  const auto windowed = settle(add("window", std::move(table), {keyed}, windowed_type));
  graph::window_group_spec spec;
  spec.key_columns = keys;
  spec.calls = calls_of(node.items);
  spec.start_column = static_cast<std::int32_t>(width);
  spec.end_column = static_cast<std::int32_t>(width + 1);
  spec.is_processing_time = window.shape.is_processing_time;
  spec.time_zone = window_of(window.shape).time_zone;
  const auto made = settle(add("window aggregate", std::move(spec), {windowed}, results));
  if (!keep_late_of_carried(node, plan, made, windowed_type, {width, width + 1}))
    return std::nullopt;
  return add_results(made, keys.size(), node, plan);
}

maybe_index job_translator::add_carried(const window_aggregate_node& node, const plan_node& plan) {
  const auto& input = plan.inputs[0];
  if (const auto* updating = find_updating(input))
    return not_yet("GROUP BY of windows over rows that are updated", updating->at);
  auto type = input.row_type();
  const auto calls = calls_of(node.items);
  if (node.shape.kind != window_function::session && !fits_into_group(calls, type, false, plan.at))
    return std::nullopt;
  const bool has_states = std::any_of(calls.begin(), calls.end(),
                                      [&](const auto& each) { return needs_states(each, type); });
  const auto* window = std::get_if<window_node>(&input.node);
  const bool is_session = node.shape.kind == window_function::session;
  if (window != nullptr && !has_states &&
      (!is_session || is_same_set(node.keys, window->partition)))
    return add_at_once(node, plan);
  if (node.shape.is_processing_time)
    return not_yet(window == nullptr
                       ? "a window over results of windows of PROCTIME()"
                       : "DISTINCT, aggregates of texts, and further keys of sessions "
                         "in windows over PROCTIME()",
                   plan.at);
  const auto below = visit(input);
  if (!below || (is_session && !keep_late_of_sessions(node, plan)))
    return std::nullopt;
  graph::window_group_spec spec;
  spec.key_columns = numbers(node.keys);
  spec.start_column = static_cast<std::int32_t>(node.carried->start);
  spec.end_column = static_cast<std::int32_t>(node.carried->end);
  if (has_states) // states know keys alone
    spec.key_columns.insert(spec.key_columns.end(), {spec.start_column, spec.end_column});
  const bool is_global = spec.key_columns.empty();
  const auto told = tell_windows(*below, type, node.carried->start, input);
  const auto keyed = add_keyed(told, type, spec.key_columns);
  spec.calls = calls;
  spec.time_zone = window_of(node.shape).time_zone;
  const auto key_count = spec.key_columns.size();
  const auto results = result_type(type, spec.key_columns, node, plan);
  const auto made = add("window aggregate", std::move(spec), {keyed}, results);
  if (is_global)
    out_.program.at(made).parallelism = 1;
  if (!keep_late_of_carried(node, plan, made, type, *node.carried))
    return std::nullopt;
  return add_results(made, key_count, node, plan);
}

} // namespace headrace::sql
