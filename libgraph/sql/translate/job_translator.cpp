#include "libgraph/sql/translate/job_translator.hpp"

#include "libgraph/job_graph/job_graph.hpp"
#include "libgraph/job_graph/operator_check.hpp"
#include "libgraph/sql/optimize/final_rows.hpp"
#include "libgraph/sql/optimize/optimizer.hpp"
#include "libgraph/sql/optimize/set_execution.hpp"
#include "libgraph/sql/translate/name_places.hpp"
#include "libgraph/sql/translate/translator.hpp"
#include "libgraph/types/value_text.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

namespace headrace::sql {
namespace {

bool is_sure(const std::optional<bound_expression>& in) { return !in || is_deterministic(*in); }
bool is_sure(const std::vector<bound_expression>& in) {
  return std::all_of(in.begin(), in.end(), is_deterministic);
}

std::string option_of(const graph::option_map& options, const char* key) {
  const auto found = options.find(key);
  return found == options.end() ? std::string() : found->second;
}

/// Whether an operator's expressions give the same values each time.
struct chance_finder {
  bool operator()(const values_node& in) const {
    return std::all_of(in.rows.begin(), in.rows.end(),
                       [](const auto& row) { return is_sure(row); });
  }
  bool operator()(const calc_node& in) const { return is_sure(in.condition) && is_sure(in.items); }
  bool operator()(const join_node& in) const { return is_sure(in.condition); }
  bool operator()(const lookup_join_node& in) const { return is_sure(in.condition); }
  bool operator()(const version_join_node& in) const { return is_sure(in.condition); }
  template <class T>
  bool operator()(const T& /*has no expressions*/) const {
    return true;
  }
};

/// Whether the rows are the same each time they are made of the same input.
bool is_repeatable(const plan_node& in) {
  return std::visit(chance_finder(), in.node) &&
         std::all_of(in.inputs.begin(), in.inputs.end(), is_repeatable);
}

} // namespace

std::vector<std::int32_t> numbers(const std::vector<std::size_t>& from) {
  std::vector<std::int32_t> out;
  for (const auto each : from)
    out.push_back(static_cast<std::int32_t>(each));
  return out;
}

std::vector<std::size_t> first_numbers(std::size_t count) {
  std::vector<std::size_t> out(count);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

graph::connector_spec connector_of(const graph::object_options& options) {
  graph::connector_spec out;
  for (const auto& [key, value] : options) {
    if (key == "connector")
      out.name = value;
    else if (!is_watermark_option(key))
      out.options.emplace(key, value);
  }
  return out;
}

std::int64_t ttl_of(const plan_node& plan, std::size_t input) {
  return input < plan.traits.ttl_ms.size() ? plan.traits.ttl_ms[input] : 0;
}

graph::mini_batch_spec mini_batch_of(const plan_node& plan) {
  return {plan.traits.mini_batch_rows, plan.traits.mini_batch_latency_ms};
}

graph::row_type_ptr shared(const logical_type& type) {
  return std::make_shared<const logical_type>(type);
}

std::optional<translated_job> job_translator::translate(const std::vector<plan_node>& sinks) {
  const auto known = findings_.size();
  const auto first = out_.program.transformations.size();
  bool is_sound = true;
  for (const auto& each : sinks) {
    at_ = each.at;
    is_sound &= add_sink(each);
  }
  is_sound &= findings_.size() == known;
  for (const auto& each : sinks)
    if (!has_end_)
      for (auto& told : find_lasting_state(each))
        warn(std::move(told));
  warn_of_dead_letters();
  name_places(out_.program, first);
  return is_sound ? std::optional(std::move(out_)) : std::nullopt;
}

void job_translator::warn_of_dead_letters() {
  std::vector<const graph::source_spec*> unread;
  std::vector<const graph::source_spec*> read;
  std::vector<std::string> names;
  for (const auto& each : out_.program.transformations) {
    const auto* call = std::get_if<graph::operator_call>(&each.call);
    const auto* source = call == nullptr ? nullptr : std::get_if<graph::source_spec>(&call->spec);
    const auto errors =
        source == nullptr ? std::string() : option_of(source->connector.options, "errors");
    if (errors != "table")
      continue;
    if (!call->side_types.empty()) {
      read.push_back(source);
      continue;
    }
    unread.push_back(source);
    names.push_back(each.name);
  }
  for (std::size_t i = 0; i < unread.size(); ++i)
    if (std::none_of(read.begin(), read.end(),
                     [&](const auto* each) { return each->connector == unread[i]->connector; }))
      warn("malformed records of " + names[i] + " are lost: no statement of the job reads " +
           names[i] + "$errors");
}

std::nullopt_t job_translator::fail_table(const graph::object_path& table,
                                          const graph::object_options& options,
                                          const std::string& message, source_span at) {
  if (settings_.places != nullptr)
    at = settings_.places->find(table, options, message).value_or(at);
  return fail(diagnostic_kind::invalid, "table " + table.object + ": " + message, at);
}

bool job_translator::check_options(const graph::object_path& table,
                                   const graph::object_options& options, source_span at) {
  const auto connector = options.find("connector");
  if (connector == options.end() || connector->second != "filesystem" || options.contains("format"))
    return true;
  fail_table(table, options,
             "missing option of connector 'filesystem': 'format', such as 'format' = 'csv'", at);
  return false;
}

std::nullopt_t job_translator::fail(diagnostic_kind kind, std::string message, source_span at) {
  findings_.push_back({kind, std::move(message), at});
  return std::nullopt;
}

void job_translator::warn(std::string what) {
  if (std::find(out_.warnings.begin(), out_.warnings.end(), what) == out_.warnings.end())
    out_.warnings.push_back(std::move(what));
}

std::nullopt_t job_translator::not_yet(const std::string& what, source_span at) {
  return fail(diagnostic_kind::unsupported, what + " cannot be run yet", at);
}

std::int32_t job_translator::add(std::string name, graph::operator_spec spec,
                                 std::vector<std::int32_t> inputs, logical_type type) {
  graph::transformation made;
  made.name = std::move(name);
  made.call = graph::operator_call{std::move(spec), {}};
  made.inputs = std::move(inputs);
  made.output_type = std::move(type);
  for (const auto input : made.inputs)
    made.parallelism = std::max(made.parallelism, fixed_parallelism(input));
  check(made);
  return out_.program.add(std::move(made));
}

std::int32_t job_translator::add_of(const graph::object_path& table, graph::operator_spec spec,
                                    std::vector<std::int32_t> inputs, logical_type type) {
  const auto made = add(table.object, std::move(spec), std::move(inputs), std::move(type));
  out_.program.at(made).statement = table.to_sql();
  return made;
}

void job_translator::check(const graph::transformation& made) {
  graph::operator_node node;
  node.name = made.name;
  node.spec = std::get<graph::operator_call>(made.call).spec;
  if (auto* windows = std::get_if<graph::window_aggregate_spec>(&node.spec))
    windows->late_side = -1; // what late rows come out of is added behind it
  node.output_type = made.output_type;
  for (const auto input : made.inputs)
    node.input_types.push_back(out_.program.at(input).output_type);
  if (const auto checked = graph::check_operator(node, made.name); !checked)
    fail(diagnostic_kind::invalid, checked.error().message, at_);
}

std::int32_t job_translator::fixed_parallelism(std::int32_t index) {
  const auto& node = out_.program.at(index);
  if (std::holds_alternative<graph::partition_call>(node.call) || own_parallelism_.contains(index))
    return 0;
  auto out = node.parallelism;
  if (std::holds_alternative<graph::union_call>(node.call))
    for (const auto input : node.inputs)
      out = std::max(out, fixed_parallelism(input));
  return out;
}

std::int32_t job_translator::asked_parallelism(const graph::object_options& options,
                                               std::string_view key) {
  const auto given = options.find(key);
  if (given == options.end())
    return 0;
  const auto asked = graph::parse_integer<std::int32_t>(trim_text(given->second));
  return asked.value_or(0); // the connector has taken it
}

std::int32_t job_translator::partition(std::int32_t input, const logical_type& type,
                                       std::vector<std::int32_t> keys) {
  graph::transformation made;
  made.name = "partition";
  graph::partitioner_spec how;
  how.kind = keys.empty() ? graph::partitioner_kind::global : graph::partitioner_kind::hash;
  how.key_columns = std::move(keys);
  made.call = graph::partition_call{std::move(how)};
  made.inputs = {input};
  made.output_type = type;
  return out_.program.add(std::move(made));
}

maybe_index job_translator::visit(const plan_node& plan, bool needs_before) {
  // A table's rows come as they are, whoever reads them.
  needs_before |= std::holds_alternative<scan_node>(plan.node) ||
                  std::holds_alternative<watermark_node>(plan.node);
  for (const auto& known : done_)
    if (known.needs_before == needs_before && *known.plan == plan && is_repeatable(plan))
      return known.index;
  const auto outer = std::exchange(needs_before_, needs_before);
  const auto outer_at = std::exchange(at_, plan.at);
  const auto index =
      plan.traits.is_final
          ? visit(made_of_final_.emplace_back(over_one_window(plan)))
          : std::visit([&](const auto& node) { return make(node, plan); }, plan.node);
  needs_before_ = outer;
  at_ = outer_at;
  if (index)
    done_.push_back({&plan, needs_before, *index});
  return index;
}

std::optional<translated_job> translate(const std::vector<plan_node>& sinks,
                                        const graph::connector_registry& connectors,
                                        const translation_settings& settings,
                                        std::vector<diagnostic>& findings) {
  return job_translator(connectors, settings, findings).translate(sinks);
}

bool translate_into(graph::pipeline& program, const std::vector<plan_node>& sinks,
                    const graph::connector_registry& connectors,
                    const translation_settings& settings, std::vector<diagnostic>& findings) {
  auto out = job_translator(connectors, settings, findings, program).translate(sinks);
  if (out)
    program = std::move(out->program);
  return out.has_value();
}

} // namespace headrace::sql
