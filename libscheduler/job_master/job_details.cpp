#include "libscheduler/job_master/job_details.hpp"

#include "libgraph/function/user_metrics_codec.hpp"
#include "libactors/message/ids_codec.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

namespace headrace::scheduler {
namespace {

std::string_view name_of(graph::partitioner_kind kind) {
  static constexpr std::array<std::string_view, 8> names = {
      "FORWARD", "HASH", "REBALANCE", "RESCALE", "SHUFFLE", "BROADCAST", "GLOBAL", "CUSTOM"};
  return names.at(static_cast<std::size_t>(kind));
}

void write_metrics(schema::TaskMetrics::Builder out, const task_figures& figures) {
  out.setRecordsIn(figures.records.in);
  out.setRecordsOut(figures.records.out);
  out.setBytesIn(figures.bytes_in);
  out.setBytesOut(figures.bytes_out);
  out.setSkippedRecords(figures.records.skipped);
  out.setLateRecords(figures.records.late);
  out.setRestoredBytes(figures.restored_bytes);
  out.setRestoredLocalBytes(figures.restored_local_bytes);
  out.setWatermarkMs(figures.watermark_ms);
  out.setBusyUs(figures.busy_us);
  out.setBackPressuredUs(figures.back_pressured_us);
  out.setIdleUs(figures.idle_us);
  auto state = out.initState(static_cast<unsigned>(figures.state.size()));
  for (unsigned i = 0; i < state.size(); ++i) {
    state[i].setName(figures.state[i].first);
    state[i].setValue(figures.state[i].second);
  }
  graph::write_user_figures(out, figures.user);
}

void write_subtask(schema::SubtaskDetails::Builder out, const execution& current,
                   const task_figures& figures, const job_history::attempt_times& times) {
  out.setState(static_cast<schema::TaskState>(current.state));
  out.setAttempt(current.id.attempt);
  write(out.initTaskExecutor(), current.slot.executor);
  write_metrics(out.initMetrics(), figures);
  const auto shares = shares_of(current, figures);
  out.setBusyShare(shares.busy);
  out.setBackPressuredShare(shares.back_pressured);
  out.setIdleShare(shares.idle);
  out.setStartedMs(times.started_ms);
  out.setEndedMs(times.ended_ms);
}

void write_inputs(schema::VertexDetails::Builder out, const execution_graph& graph,
                  std::int32_t position) {
  const auto& inputs = graph.inputs_of(position);
  auto list = out.initInputs(static_cast<unsigned>(inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const job_edge& edge = graph.edges()[static_cast<std::size_t>(inputs[i])];
    const auto& producer = graph.job().vertices[static_cast<std::size_t>(edge.producer)];
    auto entry = list[static_cast<unsigned>(i)];
    write(entry.initVertex(), producer.id);
    const auto kind = producer.outputs[static_cast<std::size_t>(edge.output)].partitioner.kind;
    entry.setPartitioner(std::string(name_of(kind)));
  }
}

/// "PT1H1M0.5S", as ISO 8601 has it.
std::string duration_text(std::int64_t ms) {
  const auto hours = ms / 3'600'000;
  const auto minutes = ms / 60'000 % 60;
  const auto rest = ms % 60'000;
  std::string out = "PT";
  if (hours > 0)
    out += std::to_string(hours) + "H";
  if (minutes > 0)
    out += std::to_string(minutes) + "M";
  if (rest > 0 || ms == 0)
    out += fmt::format("{:g}S", static_cast<double>(rest) / 1000);
  return out;
}

/// What becomes of failures, in Flink's words.
std::string restart_text(const graph::restart_spec& from) {
  switch (from.kind) {
  case graph::restart_kind::none:
    return "Restart deactivated.";
  case graph::restart_kind::fixed_delay:
    return fmt::format("Restart with fixed delay ({}). #{} restart attempts.",
                       duration_text(from.delay_ms), from.attempts);
  case graph::restart_kind::failure_rate:
    return fmt::format("Failure rate restart with maximum of {} failures within interval {} and "
                       "fixed delay {}.",
                       from.failures_max, duration_text(from.interval_ms),
                       duration_text(from.delay_ms));
  case graph::restart_kind::exponential_delay:
    break;
  }
  return fmt::format("Restart with exponential delay: starting at {}, increasing by {:f}, with "
                     "maximum {}. Delay resets after {} with jitter {:f}",
                     duration_text(from.initial_backoff_ms), from.multiplier,
                     duration_text(from.max_backoff_ms), duration_text(from.reset_after_ms),
                     from.jitter);
}

} // namespace

void write_details(schema::JobDetails::Builder out, const execution_graph& graph,
                   const job_facts& facts, const job_history& history,
                   const message<schema::CheckpointOverview>& checkpoints) {
  write_status(out.initStatus(), graph, facts);
  out.setRestartStrategy(restart_text(graph.job().restart));
  auto times = out.initStateTimesMs(static_cast<unsigned>(job_state_count));
  for (unsigned state = 0; state < times.size(); ++state)
    times.set(state, history.state_times_ms().at(state));

  const auto& vertices = graph.job().vertices;
  auto list = out.initVertices(static_cast<unsigned>(vertices.size()));
  for (std::size_t at = 0; at < vertices.size(); ++at) {
    const auto position = static_cast<std::int32_t>(at);
    const graph::job_vertex& vertex = vertices[at];
    auto entry = list[static_cast<unsigned>(at)];
    entry.setMaxParallelism(vertex.max_parallelism);
    entry.setSlotSharingGroup(vertex.slot_sharing_group);
    write_inputs(entry, graph, position);
    auto subtasks = entry.initSubtasks(static_cast<unsigned>(vertex.parallelism));
    for (std::int32_t subtask = 0; subtask < vertex.parallelism; ++subtask) {
      const task_index task = graph.task_at(position, subtask);
      write_subtask(subtasks[static_cast<unsigned>(subtask)], graph.current(task),
                    facts.figures[static_cast<std::size_t>(task)], history.times_of(task));
    }
  }

  auto exceptions = out.initExceptions(static_cast<unsigned>(history.exceptions().size()));
  for (unsigned i = 0; i < exceptions.size(); ++i) {
    const past_exception& past = history.exceptions()[i];
    exceptions[i].setTimestampMs(past.at_ms);
    write(exceptions[i].initFailure(), past.failure);
    exceptions[i].setTask(past.task);
    write(exceptions[i].initTaskExecutor(), past.executor);
  }
  out.setExceptionsTruncated(history.has_forgotten());
  if (!checkpoints.is_empty())
    out.setCheckpoints(*checkpoints.view());
}

} // namespace headrace::scheduler
