#include "libgraph/job_graph/query_parts.hpp"
#include "libgraph/sql/optimize/changelog.hpp"
#include "libgraph/sql/translate/translator.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>

namespace headrace::sql {
namespace {

logical_type time_type(const plan_column& time) {
  return (time.type.root() == type_root::timestamp_ltz ? logical_type::timestamp_ltz(3)
                                                       : logical_type::timestamp(3))
      .not_null();
}

} // namespace

graph::window_spec job_translator::window_of(const window_shape& shape) const {
  graph::window_spec out;
  out.size_ms = shape.size_ms;
  out.offset_ms = shape.offset_ms;
  out.slide_ms = shape.slide_ms;
  out.is_processing_time = shape.is_processing_time;
  if (shape.is_processing_time || shape.is_zoned)
    out.time_zone = settings_.time_zone;
  switch (shape.kind) {
  case window_function::tumble:
    return out;
  case window_function::hop:
    out.kind = graph::window_kind::sliding;
    return out;
  case window_function::cumulate:
    out.kind = graph::window_kind::cumulating;
    return out;
  case window_function::session:
    break;
  }
  out.kind = graph::window_kind::session;
  return out;
}

maybe_index job_translator::make(const window_node& node, const plan_node& plan) {
  const auto& input = plan.inputs[0];
  auto below = visit(input);
  if (const auto* updating = find_updating(input))
    return not_yet("a window function over rows that are updated", updating->at);
  if (!below)
    return std::nullopt;
  graph::window_table_spec spec;
  spec.window = window_of(node.shape);
  if (!node.shape.is_processing_time)
    spec.time_column = static_cast<std::int32_t>(node.shape.time_column);
  if (node.shape.kind != window_function::session)
    return add("window", std::move(spec), {*below}, plan.row_type());
  spec.key_columns = numbers(node.partition);
  auto type = input.row_type();
  const auto keyed = add_keyed(*below, type, spec.key_columns);
  const auto width = input.columns.size();
  const bool is_global = node.partition.empty();
  auto fields = type.fields();
  const auto all = plan.row_type().fields();
  for (auto i = width; i < all.size(); ++i)
    fields.push_back(all[i]);
  const auto made =
      add("window", std::move(spec), {keyed}, logical_type::row(std::move(fields)).not_null());
  sessions_.push_back({&plan, made, type});
  if (!is_global)
    return made;
  out_.program.at(made).parallelism = 1;
  auto back = first_numbers(plan.columns.size());
  for (auto i = width; i < back.size(); ++i)
    ++back[i]; // behind the constant
  return add("project", graph::project_spec{numbers(back)}, {made}, plan.row_type());
}

std::string job_translator::windows_below(const plan_node& plan) const {
  std::string out;
  if (const auto* window = std::get_if<window_node>(&plan.node))
    out = graph::describe(window_of(window->shape));
  for (const auto& input : plan.inputs)
    if (const auto further = windows_below(input); !further.empty())
      out += (out.empty() ? "" : ", ") + further;
  return out;
}

std::string job_translator::name_of_windows(const std::string& column,
                                            const plan_node& below) const {
  const auto windows = windows_below(below);
  return windows.empty() ? column : column + " of " + windows;
}

std::int32_t job_translator::tell_windows(std::int32_t input, logical_type& type,
                                          std::size_t column, const plan_node& below) {
  auto fields = type.fields();
  auto name = name_of_windows(fields[column].name, below);
  if (name == fields[column].name)
    return input;
  fields[column].name = std::move(name);
  type = logical_type::row(std::move(fields)).not_null();
  return add("project", graph::project_spec{numbers(first_numbers(type.child_count()))}, {input},
             type);
}

std::int32_t job_translator::add_keyed(std::int32_t input, logical_type& type,
                                       std::vector<std::int32_t>& keys) {
  if (keys.empty()) {
    keys = {static_cast<std::int32_t>(type.child_count())};
    input = add_constant(input, type);
  }
  return partition(input, type, keys);
}

maybe_index job_translator::make(const window_aggregate_node& node, const plan_node& plan) {
  const auto& input = plan.inputs[0];
  if (node.carried)
    return add_carried(node, plan);
  auto below = visit(input);
  if (const auto* updating = find_updating(input))
    return not_yet("GROUP BY of windows over rows that are updated", updating->at);
  graph::window_aggregate_spec spec;
  spec.key_columns = numbers(node.keys);
  std::vector<logical_type::field> results;
  const auto take = [&](std::string name, logical_type type, graph::aggregate_call call) {
    results.push_back({std::move(name), std::move(type), {}});
    spec.aggregates.calls.push_back(call);
  };
  for (std::size_t i = 0; i < node.keys.size(); ++i)
    take(plan.columns[i].name, plan.columns[i].type,
         {graph::aggregate_kind::first, spec.key_columns[i]});
  const auto fixed = node.keys.size() + node.properties.size();
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const auto call = call_of(node.items[i], plan.at);
    if (!call)
      return std::nullopt;
    take(plan.columns[fixed + i].name, plan.columns[fixed + i].type, *call);
  }
  if (!below)
    return std::nullopt;
  if (results.empty()) // of nothing but windows: those that have rows
    take("$rows", logical_type::bigint().not_null(), {graph::aggregate_kind::count, -1});
  spec.window = window_of(node.shape);
  const auto result_count = results.size();
  auto all = results;
  spec.aggregates.result_type = logical_type::row(std::move(results)).not_null();
  const auto bound = logical_type::timestamp(3).not_null();
  for (const auto* name : {"window_start", "window_end"})
    all.push_back({name, bound, {}});
  all.push_back({"window_time", time_type(input.columns[node.shape.time_column]), {}});
  const bool is_global = node.keys.empty();
  auto keyed_type = input.row_type();
  if (is_global) {
    spec.key_columns = {static_cast<std::int32_t>(input.columns.size())};
    below = add_constant(*below, keyed_type);
  }
  const auto keyed = partition(*below, keyed_type, spec.key_columns);
  if (!node.late.empty())
    spec.late_side = 0;
  const auto made = add("window aggregate", std::move(spec), {keyed},
                        logical_type::row(std::move(all)).not_null());
  keep_late(node, plan, made, keyed_type);
  if (is_global)
    out_.program.at(made).parallelism = 1;
  // The operator gives the keys, the results, and all three of the window; the plan has what is
  // wanted of these between the keys and the results.
  std::vector<std::size_t> back = first_numbers(node.keys.size());
  for (const auto each : node.properties)
    back.push_back(result_count + static_cast<std::size_t>(each));
  for (std::size_t i = 0; i < node.items.size(); ++i)
    back.push_back(node.keys.size() + i);
  return add("project", graph::project_spec{numbers(back)}, {made}, plan.row_type());
}

std::optional<graph::aggregate_call> job_translator::call_of(const aggregate_item& item,
                                                             source_span at) {
  if (item.is_distinct)
    return not_yet("DISTINCT in an aggregate of windows", at);
  HEADRACE_ASSERT(!item.filter, "filters of windows' aggregates are expanded");
  const auto column = item.arguments.empty() ? -1 : static_cast<std::int32_t>(item.arguments[0]);
  if (item.function == "COUNT" && item.arguments.size() <= 1)
    return graph::aggregate_call{graph::aggregate_kind::count, column};
  if (item.function == "SUM")
    return graph::aggregate_call{graph::aggregate_kind::sum, column};
  if (item.function == "MIN")
    return graph::aggregate_call{graph::aggregate_kind::min, column};
  if (item.function == "MAX")
    return graph::aggregate_call{graph::aggregate_kind::max, column};
  return not_yet(item.function + " of windows", at);
}

} // namespace headrace::sql
