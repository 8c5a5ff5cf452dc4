#include "libscheduler/job_master/job_report.hpp"

#include "libactors/message/ids_codec.hpp"

#include <array>

namespace headrace::scheduler {

task_figures read_figures(schema::TaskMetrics::Reader in) {
  return {in.getRecordsIn(), in.getRecordsOut(), in.getSkippedRecords(), in.getLateRecords()};
}

void write_status(schema::JobStatus::Builder out, const execution_graph& graph,
                  const job_facts& facts) {
  write(out.initJob(), graph.job().id);
  out.setName(graph.job().name);
  out.setState(static_cast<schema::JobState>(graph.state()));
  out.setStartedMs(facts.started_ms);
  out.setEndedMs(facts.ended_ms);
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
    task_figures sum;
    for (std::int32_t subtask = 0; subtask < vertex.parallelism; ++subtask) {
      const task_index task = graph.task_at(static_cast<std::int32_t>(position), subtask);
      ++by_state.at(static_cast<std::size_t>(graph.current(task).state));
      const task_figures& one = facts.figures[static_cast<std::size_t>(task)];
      sum.records_in += one.records_in;
      sum.records_out += one.records_out;
      sum.skipped_records += one.skipped_records;
      sum.late_records += one.late_records;
    }
    auto states = entry.initTasksByState(static_cast<unsigned>(task_state_count));
    for (std::size_t state = 0; state < task_state_count; ++state)
      states.set(static_cast<unsigned>(state), by_state.at(state));
    entry.setRecordsIn(sum.records_in);
    entry.setRecordsOut(sum.records_out);
    entry.setSkippedRecords(sum.skipped_records);
    entry.setLateRecords(sum.late_records);
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
