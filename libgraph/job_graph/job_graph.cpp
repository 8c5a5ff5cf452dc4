#include "libgraph/job_graph/job_graph.hpp"

#include "libgraph/expression/program.hpp"
#include "libgraph/job_graph/aggregation_check.hpp"
#include "libgraph/job_graph/correlate_check.hpp"
#include "libgraph/job_graph/join_check.hpp"
#include "libgraph/job_graph/operator_check.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace headrace::graph {
namespace {

error invalid(const std::string& where, const std::string& what) {
  return {errc::invalid_graph, where + ": " + what};
}

std::string label(const operator_node& node) { return "operator \"" + node.name + "\""; }
std::string label(const job_vertex& vertex) { return "vertex \"" + vertex.name + "\""; }

bool in_range(std::int32_t index, std::size_t size) {
  return index >= 0 && static_cast<std::size_t>(index) < size;
}

const logical_type* type_at(const operator_node& node, std::int32_t side) {
  if (side == -1)
    return &node.output_type;
  return in_range(side, node.side_types.size()) ? &node.side_types[static_cast<std::size_t>(side)]
                                                : nullptr;
}

status check_columns(const std::string& where, const std::vector<std::int32_t>& columns,
                     const logical_type& type, const char* what) {
  for (const auto column : columns)
    if (!in_range(column, type.child_count()))
      return invalid(where, std::string(what) + " out of range: column " + std::to_string(column) +
                                " of " + type.to_sql());
  return {};
}

status check_keys(const std::string& where, const std::vector<std::int32_t>& columns,
                  const logical_type& type) {
  if (columns.empty())
    return invalid(where, "no key column");
  return check_columns(where, columns, type, "key column");
}

status check_watermarks(const std::string& where, const watermark_spec& watermarks,
                        const logical_type& type) {
  if (watermarks.bound_ms < -1 || watermarks.idle_timeout_ms < 0)
    return invalid(where, "negative duration of watermarks");
  if ((watermarks.kind == watermark_kind::generated) == watermarks.generator.is_none())
    return invalid(where, "watermarks that are generated have a generator, others none");
  if (watermarks.time_column < -1)
    return invalid(where, "time column out of range: " + std::to_string(watermarks.time_column));
  if (watermarks.time_column >= 0)
    return check_columns(where, {watermarks.time_column}, type, "time column");
  return {};
}

struct spec_checker {
  const operator_node& node;
  std::string where;

  const logical_type& in() const { return node.input_types.front(); }

  status operator()(const source_spec& spec) const {
    if (spec.connector.name.empty() && spec.connector.provider.is_none())
      return invalid(where, "a source without connector");
    return check_watermarks(where, spec.watermarks, node.output_type);
  }
  status operator()(const row_function_spec& spec) const { return check_function(spec.function); }
  status operator()(const filter_spec& spec) const {
    if (!(in() == node.output_type))
      return mismatch("a filter gives other rows than it takes");
    return check_function(spec.function);
  }
  status operator()(const project_spec& spec) const {
    HEADRACE_CHECK(check_columns(where, spec.columns, in(), "projected column"));
    if (spec.columns.size() != node.output_type.child_count())
      return mismatch("a projection to " + std::to_string(spec.columns.size()) + " columns");
    for (std::size_t i = 0; i < spec.columns.size(); ++i)
      if (!(in().child(static_cast<std::size_t>(spec.columns[i])) == node.output_type.child(i)))
        return mismatch("a projection changes a type");
    return {};
  }
  status operator()(const watermarks_spec& spec) const {
    if (!(in() == node.output_type))
      return mismatch("a watermark operator gives other rows than it takes");
    return check_watermarks(where, spec.watermarks, in());
  }
  status operator()(const keyed_process_spec& spec) const {
    HEADRACE_CHECK(check_function(spec.function));
    return check_keys(where, spec.key_columns, in());
  }
  status operator()(const keyed_aggregate_spec& spec) const {
    HEADRACE_CHECK(check_keys(where, spec.key_columns, in()));
    return check_aggregation(where, spec.aggregates, spec.key_columns, in(), node.output_type);
  }
  status operator()(const window_aggregate_spec& spec) const {
    HEADRACE_CHECK(check_keys(where, spec.key_columns, in()));
    HEADRACE_CHECK(check_window(where, spec.window));
    if (spec.window.kind > window_kind::end_of_stream || spec.window.is_processing_time ||
        !spec.window.time_zone.empty())
      return invalid(where, "windows of a kind that this operator does not find");
    if (spec.late_side != -1) {
      const auto* late = spec.late_side < 0 ? nullptr : type_at(node, spec.late_side);
      if (late == nullptr)
        return invalid(where, "side output of late rows out of range");
      if (!(*late == in()))
        return mismatch("late rows leave as another type");
    }
    HEADRACE_CHECK(check_results(spec));
    return check_aggregation(where, spec.aggregates, spec.key_columns, in(), node.output_type);
  }
  status operator()(const sink_spec& spec) const {
    if (spec.connector.name.empty() && spec.connector.provider.is_none())
      return invalid(where, "a sink without connector");
    return {};
  }
  status operator()(const calc_spec& spec) const {
    if (spec.outputs.size() != node.output_type.child_count())
      return mismatch("a calculation of " + std::to_string(spec.outputs.size()) + " columns");
    for (std::size_t i = 0; i < spec.outputs.size(); ++i)
      if (spec.outputs[i].is_empty() || !(spec.outputs[i].type() == node.output_type.child(i)))
        return mismatch("column " + std::to_string(i) + " is calculated as another type");
    auto made = expression_program::compile(in(), spec.condition, spec.outputs, {spec.time_zone});
    if (!made)
      return error(made.error().code, where + ": " + made.error().message);
    return {};
  }
  status operator()(const group_aggregate_spec& spec) const {
    HEADRACE_CHECK(check_keys(where, spec.key_columns, in()));
    return check_group_aggregate(where, spec, in(), node.output_type);
  }
  status operator()(const join_spec& spec) const {
    HEADRACE_CHECK(check_keys(where, spec.left.key_columns, node.input_types[0]));
    HEADRACE_CHECK(check_keys(where, spec.right.key_columns, node.input_types[1]));
    return check_join(where, spec, node.input_types[0], node.input_types[1], node.output_type);
  }
  status operator()(const timed_join_spec& spec) const {
    HEADRACE_CHECK((*this)(spec.join));
    HEADRACE_CHECK(check_columns(where, {spec.left_time}, node.input_types[0], "time column"));
    HEADRACE_CHECK(check_columns(where, {spec.right_time}, node.input_types[1], "time column"));
    return check_timed_join(where, spec, node.input_types[0], node.input_types[1]);
  }
  status operator()(const lookup_join_spec& spec) const {
    if (spec.table_type.root() != type_root::row)
      return invalid(where, "the table's rows are none: " + spec.table_type.to_sql());
    HEADRACE_CHECK(check_columns(where, spec.fields, spec.table_type, "column of the table"));
    HEADRACE_CHECK(check_keys(where, spec.key_columns, in()));
    return check_lookup_join(where, spec, in(), node.output_type);
  }
  status operator()(const rank_spec& spec) const {
    HEADRACE_CHECK(check_keys(where, spec.key_columns, in()));
    return check_rank(where, spec, in(), node.output_type);
  }
  status operator()(const window_table_spec& spec) const {
    return check_window_table(where, spec, in(), node.output_type);
  }
  status operator()(const window_group_spec& spec) const {
    HEADRACE_CHECK(check_keys(where, spec.key_columns, in()));
    return check_window_group(where, spec, in(), node.output_type);
  }
  status operator()(const session_group_spec& spec) const {
    HEADRACE_CHECK(check_keys(where, spec.key_columns, in()));
    return check_session_group(where, spec, in(), node.output_type);
  }
  status operator()(const over_spec& spec) const {
    HEADRACE_CHECK(check_keys(where, spec.key_columns, in()));
    return check_over(where, spec, in(), node.output_type);
  }
  status operator()(const correlate_spec& spec) const {
    if (spec.result_type.root() != type_root::row)
      return invalid(where, "a function's rows are none: " + spec.result_type.to_sql());
    HEADRACE_CHECK(check_columns(where, spec.passed, in(), "column"));
    HEADRACE_CHECK(check_columns(where, spec.fields, spec.result_type, "column of the function"));
    return check_correlate(where, spec, in(), node.output_type);
  }
  status operator()(const match_spec& spec) const {
    HEADRACE_CHECK(check_keys(where, spec.key_columns, in()));
    return check_match(where, spec, in(), node.output_type);
  }
  status operator()(const co_process_spec& spec) const {
    HEADRACE_CHECK(check_function(spec.function));
    const auto& second = node.input_types[1];
    if (spec.is_broadcast && !spec.second_key_columns.empty())
      return invalid(where, "the second input is broadcast, so its rows have no key");
    if (spec.key_columns.empty() && spec.second_key_columns.empty())
      return {};
    HEADRACE_CHECK(check_keys(where, spec.key_columns, in()));
    if (spec.is_broadcast)
      return {};
    HEADRACE_CHECK(check_keys(where, spec.second_key_columns, second));
    if (spec.key_columns.size() != spec.second_key_columns.size())
      return invalid(where, "keys of " + std::to_string(spec.key_columns.size()) + " and of " +
                                std::to_string(spec.second_key_columns.size()) + " columns");
    for (std::size_t i = 0; i < spec.key_columns.size(); ++i) {
      const auto& left = in().child(static_cast<std::size_t>(spec.key_columns[i]));
      const auto& right = second.child(static_cast<std::size_t>(spec.second_key_columns[i]));
      if (!(left == right))
        return error(errc::type_mismatch, where + ": the inputs have keys of different types: " +
                                              left.to_sql() + " and " + right.to_sql());
    }
    return {};
  }
  status operator()(const async_wait_spec& spec) const {
    HEADRACE_CHECK(check_function(spec.function));
    if (spec.capacity < 1 || spec.capacity > async_wait_spec::capacity_limit)
      return invalid(where, "the capacity of async calls is 1 to " +
                                std::to_string(async_wait_spec::capacity_limit) + ", found " +
                                std::to_string(spec.capacity));
    if (spec.timeout_ms < 0)
      return invalid(where,
                     "timeout of async calls below zero: " + std::to_string(spec.timeout_ms));
    const auto& retry = spec.retry;
    if (retry.attempts_max < 0 || retry.delay_ms < 0 || retry.delay_ms_max < 0 ||
        !(retry.multiplier >= 1))
      return invalid(where, "retries of async calls are of a number and delay from 0 on, and a "
                            "multiplier from 1 on");
    return {};
  }
  status operator()(const salt_spec& spec) const {
    HEADRACE_CHECK(check_columns(where, spec.columns, in(), "column"));
    return check_salt(where, spec, in(), node.output_type);
  }

private:
  /// Without a window function the output is the results, and behind them, where there is more, the
  /// window's start, end and time.
  status check_results(const window_aggregate_spec& spec) const {
    constexpr std::size_t told = 3;
    constexpr int milliseconds = 3;
    const auto& results = spec.aggregates.result_type;
    const auto& all = node.output_type;
    if (!spec.window_function.is_none() || results.root() == type_root::null || results == all)
      return {};
    if (results.root() != type_root::row || all.root() != type_root::row ||
        results.child_count() + told != all.child_count() ||
        spec.window.kind == window_kind::end_of_stream)
      return mismatch("results and the bounds of windows are not the output");
    for (std::size_t i = 0; i < all.child_count(); ++i) {
      const auto& type = all.child(i);
      const bool is_time =
          type.root() == type_root::timestamp || type.root() == type_root::timestamp_ltz;
      const bool is_sound = i < results.child_count() ? type == results.child(i)
                                                      : is_time && type.precision() == milliseconds;
      if (!is_sound)
        return mismatch("column " + std::to_string(i) + " of a window aggregate has another type");
    }
    return {};
  }
  status check_function(const function_ref& function) const {
    return function.is_none() ? status(invalid(where, "no function")) : status();
  }
  status mismatch(const std::string& what) const {
    return error(errc::type_mismatch,
                 where + ": " + what + ": " + in().to_sql() + " to " + node.output_type.to_sql());
  }
};

status check_node(const operator_node& node) {
  const bool is_sink = std::holds_alternative<sink_spec>(node.spec);
  if (node.id.is_none())
    return invalid(label(node), "no id");
  if (node.input_types.size() != input_count(node.spec))
    return invalid(label(node), std::to_string(node.input_types.size()) + " inputs, takes " +
                                    std::to_string(input_count(node.spec)));
  for (const auto& type : node.input_types)
    if (type.root() != type_root::row)
      return error(errc::type_mismatch, label(node) + ": input is no row: " + type.to_sql());
  if (!is_sink && node.output_type.root() != type_root::row)
    return error(errc::type_mismatch,
                 label(node) + ": output is no row: " + node.output_type.to_sql());
  for (const auto& type : node.side_types)
    if (type.root() != type_root::row)
      return error(errc::type_mismatch, label(node) + ": side output is no row: " + type.to_sql());
  return std::visit(spec_checker{node, label(node)}, node.spec);
}

status check_types(const operator_node& from, std::int32_t side, const operator_node& to,
                   std::int32_t input) {
  if (std::holds_alternative<sink_spec>(from.spec))
    return invalid(label(from), "a sink has no output");
  const auto* given = type_at(from, side);
  if (given == nullptr)
    return invalid(label(from), "no side output " + std::to_string(side));
  if (!in_range(input, to.input_types.size()))
    return invalid(label(to), "no input " + std::to_string(input));
  const auto& wanted = to.input_types[static_cast<std::size_t>(input)];
  if (!(*given == wanted))
    return error(errc::type_mismatch, label(from) + " gives " + given->to_sql() + ", but " +
                                          label(to) + " takes " + wanted.to_sql());
  return {};
}

status check_chain(const job_vertex& vertex) {
  std::vector<int> inputs(vertex.operators.size(), 0);
  for (const auto& edge : vertex.chain) {
    if (!in_range(edge.from, vertex.operators.size()) ||
        !in_range(edge.to, vertex.operators.size()) || edge.from >= edge.to)
      return invalid(label(vertex), "chain edge out of order: " + std::to_string(edge.from) +
                                        " to " + std::to_string(edge.to));
    HEADRACE_CHECK(check_types(vertex.operators[static_cast<std::size_t>(edge.from)], edge.side,
                               vertex.operators[static_cast<std::size_t>(edge.to)], edge.input));
    ++inputs[static_cast<std::size_t>(edge.to)];
  }
  for (std::size_t i = 1; i < inputs.size(); ++i)
    if (inputs[i] != 1)
      return invalid(label(vertex.operators[i]),
                     std::to_string(inputs[i]) + " chain edges lead to it, must be one");
  return {};
}

/// Each input of the head has a gate; what stands behind it in the chain has one input.
status check_fed(const job_vertex& vertex) {
  const auto& head = vertex.operators.front();
  if (vertex.inputs.empty() != head.input_types.empty())
    return invalid(label(head), vertex.inputs.empty() ? "nothing feeds it" : "a source is fed");
  std::vector<bool> is_fed(head.input_types.size(), false);
  for (const auto& input : vertex.inputs) {
    if (input.id.is_none() || !in_range(input.input, head.input_types.size()))
      return invalid(label(vertex), "input out of range: " + std::to_string(input.input));
    is_fed[static_cast<std::size_t>(input.input)] = true;
  }
  for (std::size_t i = 0; i < is_fed.size(); ++i)
    if (!is_fed[i])
      return invalid(label(head), "nothing feeds its input " + std::to_string(i));
  for (std::size_t i = 1; i < vertex.operators.size(); ++i)
    if (vertex.operators[i].input_types.size() > 1)
      return invalid(label(vertex.operators[i]), "an operator of several inputs heads its chain");
  return {};
}

status check_partitioner(const operator_node& from, const result_output& output) {
  const auto* type = type_at(from, output.side);
  if (type == nullptr)
    return invalid(label(from), "no side output " + std::to_string(output.side));
  if (output.partitioner.kind == partitioner_kind::hash)
    return check_keys(label(from), output.partitioner.key_columns, *type);
  if (output.partitioner.kind == partitioner_kind::custom && output.partitioner.function.is_none())
    return invalid(label(from), "a custom partitioner without function");
  return {};
}

struct producer {
  std::size_t vertex = 0;
  const result_output* output = nullptr;
  int consumers = 0;
};
using producer_map = std::unordered_map<result_id, producer>;

status check_inputs(const job_graph& job, std::size_t at, producer_map& results) {
  const auto& vertex = job.vertices[at];
  for (const auto& input : vertex.inputs) {
    const auto found = results.find(input.id);
    if (found == results.end() || found->second.vertex >= at)
      return invalid(label(vertex),
                     "consumes a result that no earlier vertex gives: " + to_string(input.id));
    if (++found->second.consumers > 1)
      return invalid(label(vertex), "a result is consumed twice: " + to_string(input.id));
    const auto& from = job.vertices[found->second.vertex];
    const auto& output = *found->second.output;
    HEADRACE_CHECK(check_types(from.operators[static_cast<std::size_t>(output.from)], output.side,
                               vertex.operators.front(), input.input));
    const auto* co_process = std::get_if<co_process_spec>(&vertex.operators.front().spec);
    if (co_process != nullptr && co_process->is_broadcast && input.input == 1 &&
        output.partitioner.kind != partitioner_kind::broadcast)
      return invalid(label(vertex.operators.front()),
                     "its second input must be broadcast, or subtasks have different states");
    if (output.partitioner.kind == partitioner_kind::forward &&
        from.parallelism != vertex.parallelism)
      return invalid(label(vertex), "forward edge from parallelism " +
                                        std::to_string(from.parallelism) + " to " +
                                        std::to_string(vertex.parallelism));
  }
  return {};
}

status check_unique(const job_graph& job) {
  std::unordered_set<vertex_id> vertices;
  std::unordered_map<operator_id, const operator_node*> operators;
  std::unordered_map<std::string, const operator_node*> uids;
  for (const auto& vertex : job.vertices) {
    if (!vertices.insert(vertex.id).second)
      return invalid(label(vertex), "another vertex has its id " + to_string(vertex.id));
    for (const auto& node : vertex.operators) {
      if (!node.uid.empty())
        if (const auto [other, fresh] = uids.emplace(node.uid, &node); !fresh)
          return error(errc::duplicate_uid, "duplicate uid \"" + node.uid + "\": " +
                                                label(*other->second) + " and " + label(node));
      if (const auto [other, fresh] = operators.emplace(node.id, &node); !fresh)
        return invalid(label(node), "same id as " + label(*other->second));
    }
  }
  return {};
}

status check_committer(const job_graph& job) {
  if (job.committer_retries < 0)
    return error(errc::bad_option_value, "sink.committer.retries must be at least 0: " +
                                             std::to_string(job.committer_retries));
  return {};
}

status check_checkpoints(const checkpoint_spec& spec) {
  if (spec.max_concurrent < 1)
    return error(errc::bad_option_value,
                 "execution.checkpointing.max-concurrent-checkpoints must be at least 1: " +
                     std::to_string(spec.max_concurrent));
  if (spec.unaligned && spec.max_concurrent > 1)
    return error(errc::bad_option_value,
                 "unaligned checkpoints are taken one at a time: leave "
                 "execution.checkpointing.max-concurrent-checkpoints at 1, or "
                 "execution.checkpointing.unaligned.enabled at false");
  std::set<std::string_view> known;
  for (const auto& hook : spec.master_hooks) {
    if (hook.identifier.empty() || hook.function < 0)
      return error(errc::invalid_graph, "a master hook has no identifier or no function");
    if (!known.insert(hook.identifier).second)
      return error(errc::invalid_graph,
                   "two master hooks have one identifier: `" + hook.identifier + "`");
  }
  return {};
}

} // namespace

status check_operator(const operator_node& node, const std::string& where) {
  return std::visit(spec_checker{node, where}, node.spec);
}

status validate(const job_vertex& vertex) {
  if (vertex.id.is_none())
    return invalid(label(vertex), "no id");
  if (vertex.operators.empty())
    return invalid(label(vertex), "no operator");
  if (vertex.max_parallelism < 1 || vertex.max_parallelism > max_parallelism_limit)
    return invalid(label(vertex),
                   "max parallelism out of range: " + std::to_string(vertex.max_parallelism) +
                       ", allowed 1 to " + std::to_string(max_parallelism_limit));
  if (vertex.parallelism < 1 || vertex.parallelism > vertex.max_parallelism)
    return invalid(label(vertex),
                   "parallelism out of range: " + std::to_string(vertex.parallelism) +
                       ", allowed 1 to " + std::to_string(vertex.max_parallelism));
  for (const auto& node : vertex.operators)
    HEADRACE_CHECK(check_node(node));
  HEADRACE_CHECK(check_chain(vertex));
  HEADRACE_CHECK(check_fed(vertex));
  for (const auto& output : vertex.outputs) {
    if (output.id.is_none() || !in_range(output.from, vertex.operators.size()))
      return invalid(label(vertex), "output out of range: operator " + std::to_string(output.from));
    HEADRACE_CHECK(
        check_partitioner(vertex.operators[static_cast<std::size_t>(output.from)], output));
  }
  return {};
}

status validate(const job_graph& job) {
  if (job.vertices.empty())
    return error(errc::invalid_graph, "the job has no operators");
  HEADRACE_CHECK(check_checkpoints(job.checkpoints));
  HEADRACE_CHECK(check_committer(job));
  producer_map results;
  for (std::size_t i = 0; i < job.vertices.size(); ++i) {
    HEADRACE_CHECK(validate(job.vertices[i]));
    for (const auto& output : job.vertices[i].outputs)
      if (!results.emplace(output.id, producer{i, &output}).second)
        return invalid(label(job.vertices[i]), "another result has the id " + to_string(output.id));
  }
  HEADRACE_CHECK(check_unique(job));
  for (std::size_t i = 0; i < job.vertices.size(); ++i)
    HEADRACE_CHECK(check_inputs(job, i, results));
  for (const auto& vertex : job.vertices)
    for (const auto& output : vertex.outputs)
      if (results.at(output.id).consumers == 0)
        return invalid(label(vertex), "nobody consumes its result " + to_string(output.id));
  return {};
}

std::int32_t derived_max_parallelism(std::int32_t parallelism) {
  const auto wanted = std::bit_ceil(static_cast<std::uint32_t>(parallelism) +
                                    static_cast<std::uint32_t>(parallelism) / 2U);
  return std::clamp(static_cast<std::int32_t>(std::min(wanted, 32'768U)), 128,
                    max_parallelism_limit);
}

} // namespace headrace::graph
