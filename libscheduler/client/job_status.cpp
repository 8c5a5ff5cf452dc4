#include "libscheduler/client/job_status.hpp"

#include "libactors/message/ids_codec.hpp"

#include <algorithm>
#include <utility>

namespace headrace::scheduler {
namespace {

vertex_status read_vertex(schema::VertexStatus::Reader in) {
  vertex_status out;
  out.id = read_id<vertex_id>(in.getId());
  out.name = in.getName().cStr();
  out.parallelism = in.getParallelism();
  for (const auto count : in.getTasksByState())
    out.tasks_by_state.push_back(count);
  out.is_source = in.getIsSource();
  out.records_in = in.getRecordsIn();
  out.records_out = in.getRecordsOut();
  out.skipped_records = in.getSkippedRecords();
  out.late_records = in.getLateRecords();
  out.restored_bytes = in.getRestoredBytes();
  out.restored_local_bytes = in.getRestoredLocalBytes();
  out.busy_share = in.getBusyShare();
  out.back_pressured_share = in.getBackPressuredShare();
  out.idle_share = in.getIdleShare();
  return out;
}

result<job_status> read_status(schema::JobStatus::Reader in) {
  job_status out;
  out.id = read_id<job_id>(in.getJob());
  out.name = in.getName().cStr();
  out.state = static_cast<job_state>(in.getState());
  if (out.state > job_state::reconciling)
    return error(errc::malformed_message,
                 "job status has an unknown state: " + std::to_string(static_cast<int>(out.state)));
  out.started_ms = in.getStartedMs();
  out.ended_ms = in.getEndedMs();
  out.restarts = in.getRestarts();
  out.completed_checkpoints = in.getCompletedCheckpoints();
  out.last_checkpoint = in.getLastCheckpoint();
  out.last_checkpoint_path = in.getLastCheckpointPath().cStr();
  out.restored_checkpoint = in.getRestoredCheckpoint();
  for (const auto vertex : in.getVertices())
    out.vertices.push_back(read_vertex(vertex));
  for (const auto one : in.getAccumulators())
    out.accumulators.push_back({one.getName().cStr(), one.getType().cStr(), one.getValue().cStr()});
  out.failure = read_error(in.getFailure());
  out.waiting_for = in.getWaitingFor().cStr();
  return out;
}

} // namespace

result<job_status> read_job_status(const message<schema::JobStatus>& from) {
  return checked_read([&] { return read_status(*from.view()); });
}

std::uint64_t records_read(const job_status& job) {
  std::uint64_t out = 0;
  for (const auto& vertex : job.vertices)
    out += vertex.is_source ? vertex.records_in : 0;
  return out;
}

result<std::vector<job_status>> read_job_list(const message<schema::JobList>& from) {
  return checked_read([&]() -> result<std::vector<job_status>> {
    std::vector<job_status> out;
    const auto in = from.view();
    for (const auto job : in->getJobs()) {
      HEADRACE_TRY(auto one, read_status(job));
      out.push_back(std::move(one));
    }
    std::stable_sort(out.begin(), out.end(), [](const job_status& left, const job_status& right) {
      return left.started_ms < right.started_ms;
    });
    return out;
  });
}

} // namespace headrace::scheduler
