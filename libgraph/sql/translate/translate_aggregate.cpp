#include "libgraph/job_graph/aggregation_check.hpp"
#include "libgraph/sql/optimize/changelog.hpp"
#include "libgraph/sql/translate/translator.hpp"

namespace headrace::sql {

std::vector<graph::group_aggregate_call> calls_of(const std::vector<aggregate_item>& items) {
  std::vector<graph::group_aggregate_call> out;
  for (const auto& each : items) {
    graph::group_aggregate_call call;
    call.function = each.function;
    call.arguments = numbers(each.arguments);
    call.filter = each.filter ? static_cast<std::int32_t>(*each.filter) : -1;
    call.is_distinct = each.is_distinct;
    if (each.user != nullptr)
      call.definition = graph::encode(*each.user);
    out.push_back(std::move(call));
  }
  return out;
}

std::int32_t job_translator::add_local_phase(std::int32_t input, logical_type& type,
                                             graph::group_aggregate_spec& global,
                                             const logical_type& results) {
  auto local = global;
  local.phase = graph::aggregate_phase::local;
  local.state_ttl_ms = 0;
  local.other_end = results;
  global.phase = graph::aggregate_phase::global;
  global.other_end = type;
  std::vector<logical_type::field> sums;
  for (const auto column : global.key_columns)
    sums.push_back(type.fields()[static_cast<std::size_t>(column)]);
  global.key_columns = numbers(first_numbers(sums.size()));
  sums.push_back({"$sums", logical_type::bytes().not_null(), {}});
  type = logical_type::row(std::move(sums)).not_null();
  return add("local aggregate", std::move(local), {input}, type);
}

bool job_translator::fits_into_group(const std::vector<graph::group_aggregate_call>& calls,
                                     const logical_type& input, bool retracts, source_span at) {
  const auto checked = graph::check_group_size("GROUP BY", calls, input, retracts);
  if (!checked)
    fail(diagnostic_kind::too_large, checked.error().message, at);
  return checked.has_value();
}

maybe_index job_translator::make(const aggregate_node& node, const plan_node& plan) {
  const auto& input = plan.inputs[0];
  auto below = visit(input);
  if (!below)
    return std::nullopt;
  graph::group_aggregate_spec spec;
  spec.calls = calls_of(node.items);
  spec.input_retracts = find_updating(input) != nullptr;
  for (const auto& each : node.items)
    if (spec.input_retracts && each.user != nullptr && !each.user->has_retract)
      return fail(diagnostic_kind::unsupported,
                  "rows that are updated are taken back from an aggregate: define "
                  "retract(group, …) of " +
                      each.user->name,
                  plan.at);
  spec.emits_update_before = needs_before_;
  spec.state_ttl_ms = ttl_of(plan);
  spec.mini_batch = mini_batch_of(plan);
  auto keyed_type = input.row_type();
  const bool is_global = node.key_count == 0;
  if (is_global) {
    // One group has a constant for a key, behind what the aggregates are over.
    spec.key_columns = {static_cast<std::int32_t>(input.columns.size())};
    below = add_constant(*below, keyed_type);
  } else {
    spec.key_columns = numbers(first_numbers(node.key_count));
  }
  auto all = plan.row_type().fields();
  if (is_global)
    all.insert(all.begin(), keyed_type.fields().back());
  const auto results = logical_type::row(std::move(all)).not_null();
  if (!fits_into_group(spec.calls, keyed_type, spec.input_retracts, plan.at))
    return std::nullopt;
  if (plan.traits.split_column)
    below = add_split(*below, keyed_type, spec, results, plan);
  if (plan.traits.is_two_phase)
    below = add_local_phase(*below, keyed_type, spec, results);
  const auto keyed = partition(*below, keyed_type, spec.key_columns);
  const auto made = add("group aggregate", std::move(spec), {keyed}, results);
  if (!is_global)
    return made;
  out_.program.at(made).parallelism = 1;
  std::vector<std::size_t> behind = first_numbers(plan.columns.size());
  for (auto& each : behind)
    ++each;
  return add("project", graph::project_spec{numbers(behind)}, {made}, plan.row_type());
}

} // namespace headrace::sql
