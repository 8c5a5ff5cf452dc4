#include "libscheduler/job_master/job_report.hpp"

#include "libscheduler/job_master/accumulators.hpp"
#include "libgraph/function/user_metrics_codec.hpp"
#include "libactors/message/ids_codec.hpp"

#include <algorithm>
#include <array>

namespace headrace::scheduler {

record_counts& record_counts::operator+=(const record_counts& other) {
  in += other.in;
  out += other.out;
  skipped += other.skipped;
  late += other.late;
  return *this;
}

task_figures read_figures(schema::TaskMetrics::Reader in, const execution_attempt_id& attempt,
                          const task_figures& before) {
  const bool is_same_attempt = attempt == before.attempt;
  task_figures out;
  out.attempt = attempt;
  out.records = {in.getRecordsIn(), in.getRecordsOut(), in.getSkippedRecords(),
                 in.getLateRecords()};
  out.earlier = before.earlier;
  if (!is_same_attempt)
    out.earlier += before.records;
  out.restored_bytes = in.getRestoredBytes();
  out.restored_local_bytes = in.getRestoredLocalBytes();
  out.bytes_in = in.getBytesIn();
  out.bytes_out = in.getBytesOut();
  out.watermark_ms = in.getWatermarkMs();
  out.busy_us = in.getBusyUs();
  out.back_pressured_us = in.getBackPressuredUs();
  out.idle_us = in.getIdleUs();
  for (const auto figure : in.getState())
    out.state.emplace_back(figure.getName().cStr(), figure.getValue());
  out.user = graph::read_user_figures(in);
  const bool goes_on = is_same_attempt && out.busy_us >= before.busy_us &&
                       out.back_pressured_us >= before.back_pressured_us &&
                       out.idle_us >= before.idle_us;
  const task_figures since = goes_on ? before : task_figures();
  const auto busy = static_cast<double>(out.busy_us - since.busy_us);
  const auto back_pressured = static_cast<double>(out.back_pressured_us - since.back_pressured_us);
  const auto idle = static_cast<double>(out.idle_us - since.idle_us);
  const double all = busy + back_pressured + idle;
  out.shares = all == 0 ? since.shares
                        : time_shares{static_cast<float>(busy / all),
                                      static_cast<float>(back_pressured / all),
                                      static_cast<float>(idle / all)};
  return out;
}

time_shares shares_of(const execution& current, const task_figures& figures) {
  return current.state == task_state::running ? figures.shares : time_shares();
}

namespace {

/// The state that a job leaves for one in which it ends.
job_state before_end(job_state end) {
  switch (end) {
  case job_state::canceled:
    return job_state::cancelling;
  case job_state::failed:
    return job_state::failing;
  case job_state::finished:
    return job_state::running;
  default:
    return end;
  }
}

} // namespace

void write_status(schema::JobStatus::Builder out, const execution_graph& graph,
                  const job_facts& facts) {
  write(out.initJob(), graph.job().id);
  out.setName(graph.job().name);
  out.setState(
      static_cast<schema::JobState>(facts.is_settling ? before_end(graph.state()) : graph.state()));
  out.setStartedMs(facts.started_ms);
  out.setEndedMs(facts.is_settling ? 0 : facts.ended_ms);
  out.setRestarts(facts.restarts);
  out.setCompletedCheckpoints(facts.completed_checkpoints);
  out.setLastCheckpoint(facts.newest_checkpoint);
  out.setLastCheckpointPath(facts.newest_checkpoint_path);
  out.setRestoredCheckpoint(facts.restored_checkpoint);
  write(out.initFailure(), facts.failure);
  out.setWaitingFor(facts.waiting_for);

  const auto& vertices = graph.job().vertices;
  auto list = out.initVertices(static_cast<unsigned>(vertices.size()));
  for (std::size_t position = 0; position < vertices.size(); ++position) {
    const graph::job_vertex& vertex = vertices[position];
    auto entry = list[static_cast<unsigned>(position)];
    write(entry.initId(), vertex.id);
    entry.setName(vertex.name);
    entry.setParallelism(vertex.parallelism);
    std::array<std::uint32_t, task_state_count> by_state{};
    record_counts sum; // of all attempts
    std::uint64_t restored_bytes = 0;
    std::uint64_t restored_local_bytes = 0;
    time_shares most;
    for (std::int32_t subtask = 0; subtask < vertex.parallelism; ++subtask) {
      const task_index task = graph.task_at(static_cast<std::int32_t>(position), subtask);
      ++by_state.at(static_cast<std::size_t>(graph.current(task).state));
      const task_figures& one = facts.figures[static_cast<std::size_t>(task)];
      sum += one.earlier;
      sum += one.records;
      restored_bytes += one.restored_bytes;
      restored_local_bytes += one.restored_local_bytes;
      const auto shares = shares_of(graph.current(task), one);
      most.busy = std::max(most.busy, shares.busy);
      most.back_pressured = std::max(most.back_pressured, shares.back_pressured);
      most.idle = std::max(most.idle, shares.idle);
    }
    auto states = entry.initTasksByState(static_cast<unsigned>(task_state_count));
    for (std::size_t state = 0; state < task_state_count; ++state)
      states.set(static_cast<unsigned>(state), by_state.at(state));
    entry.setIsSource(vertex.inputs.empty());
    entry.setRecordsIn(sum.in);
    entry.setRecordsOut(sum.out);
    entry.setSkippedRecords(sum.skipped);
    entry.setLateRecords(sum.late);
    entry.setRestoredBytes(restored_bytes);
    entry.setRestoredLocalBytes(restored_local_bytes);
    entry.setBusyShare(most.busy);
    entry.setBackPressuredShare(most.back_pressured);
    entry.setIdleShare(most.idle);
  }
  std::vector<const graph::user_figure*> reported;
  for (const auto& task : facts.figures)
    for (const auto& each : task.user)
      reported.push_back(&each);
  const auto merged = merge_accumulators(reported);
  auto accumulators = out.initAccumulators(static_cast<unsigned>(merged.size()));
  for (std::size_t i = 0; i < merged.size(); ++i) {
    auto to = accumulators[static_cast<unsigned>(i)];
    to.setName(merged[i].name);
    to.setType(merged[i].type);
    to.setValue(merged[i].value);
  }
}

void write_result(schema::JobResult::Builder out, const execution_graph& graph,
                  const job_facts& facts) {
  write(out.initJob(), graph.job().id);
  out.setState(static_cast<schema::JobState>(graph.state()));
  out.setRuntimeMs(facts.ended_ms - facts.started_ms);
  if (graph.state() == job_state::failed)
    write(out.initFailure(), facts.failure);
  out.setRestarts(facts.restarts);
  out.setCompletedCheckpoints(facts.completed_checkpoints);
}

} // namespace headrace::scheduler
