#include "libscheduler/rest/handler/job_handlers.hpp"

#include "libscheduler/execution_graph/life_cycle.hpp"
#include "libscheduler/rest/handler/json_text.hpp"
#include "libactors/message/ids_codec.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::scheduler {
namespace {

using json = nlohmann::ordered_json;
using state_counts = std::array<std::int64_t, task_state_count>;

std::string state_name(schema::JobState state) {
  return upper_case_of(name_of(
      static_cast<job_state>(std::min(static_cast<std::size_t>(state), job_state_count - 1))));
}

state_counts counts_of(schema::VertexStatus::Reader vertex) {
  state_counts counts{};
  const auto by_state = vertex.getTasksByState();
  for (unsigned i = 0; i < by_state.size() && i < counts.size(); ++i)
    counts.at(i) += by_state[i];
  return counts;
}

json counts_entry(const state_counts& counts, bool is_upper_case) {
  json out;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto name = name_of(static_cast<task_state>(i));
    out[is_upper_case ? upper_case_of(name) : std::string(name)] = counts.at(i);
  }
  out[is_upper_case ? "RECONCILING" : "reconciling"] = 0;
  return out;
}

/// What a vertex is in, told from what its subtasks are in: the worst news first.
task_state state_of(const state_counts& counts) {
  const auto has = [&](task_state state) { return counts.at(static_cast<std::size_t>(state)) > 0; };
  for (const auto state : {task_state::failed, task_state::canceling, task_state::canceled,
                           task_state::initializing, task_state::running})
    if (has(state))
      return state;
  const bool is_mixed =
      has(task_state::created) || has(task_state::scheduled) || has(task_state::deploying);
  if (has(task_state::finished))
    return is_mixed ? task_state::running : task_state::finished;
  return has(task_state::deploying)   ? task_state::deploying
         : has(task_state::scheduled) ? task_state::scheduled
                                      : task_state::created;
}

struct vertex_sums {
  std::int64_t started_ms = 0;
  std::int64_t ended_ms = 0; ///< 0: one has not ended
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t busy_us = 0;
  std::uint64_t back_pressured_us = 0;
  std::uint64_t idle_us = 0;
};

vertex_sums sums_of(schema::VertexDetails::Reader vertex) {
  vertex_sums out;
  bool all_ended = vertex.getSubtasks().size() > 0;
  for (const auto subtask : vertex.getSubtasks()) {
    const auto metrics = subtask.getMetrics();
    if (subtask.getStartedMs() > 0)
      out.started_ms = out.started_ms == 0 ? subtask.getStartedMs()
                                           : std::min(out.started_ms, subtask.getStartedMs());
    all_ended = all_ended && subtask.getEndedMs() > 0;
    out.ended_ms = std::max(out.ended_ms, subtask.getEndedMs());
    out.bytes_in += metrics.getBytesIn();
    out.bytes_out += metrics.getBytesOut();
    out.busy_us += metrics.getBusyUs();
    out.back_pressured_us += metrics.getBackPressuredUs();
    out.idle_us += metrics.getIdleUs();
  }
  if (!all_ended)
    out.ended_ms = 0;
  return out;
}

json vertex_entry(schema::VertexStatus::Reader status, schema::VertexDetails::Reader details,
                  std::int64_t now_ms) {
  const auto counts = counts_of(status);
  const auto sums = sums_of(details);
  json out;
  out["id"] = to_string(read_id<vertex_id>(status.getId()));
  out["slotSharingGroupId"] = details.getSlotSharingGroup().cStr();
  out["name"] = status.getName().cStr();
  out["maxParallelism"] = details.getMaxParallelism();
  out["parallelism"] = status.getParallelism();
  out["status"] = upper_case_of(name_of(state_of(counts)));
  out["start-time"] = sums.started_ms == 0 ? -1 : sums.started_ms;
  out["end-time"] = end_time(sums.ended_ms);
  out["duration"] = duration_ms(sums.started_ms, sums.ended_ms, now_ms);
  out["tasks"] = counts_entry(counts, true);
  out["metrics"] = {{"read-bytes", sums.bytes_in},
                    {"read-bytes-complete", true},
                    {"write-bytes", sums.bytes_out},
                    {"write-bytes-complete", true},
                    {"read-records", status.getRecordsIn()},
                    {"read-records-complete", true},
                    {"write-records", status.getRecordsOut()},
                    {"write-records-complete", true},
                    {"accumulated-backpressured-time", sums.back_pressured_us / 1000},
                    {"accumulated-idle-time", sums.idle_us / 1000},
                    {"accumulated-busy-time", sums.busy_us / 1000},
                    {"skipped-records", status.getSkippedRecords()},
                    {"late-records", status.getLateRecords()},
                    {"restored-bytes", status.getRestoredBytes()},
                    {"restored-local-bytes", status.getRestoredLocalBytes()}};
  return out;
}

json plan_entry(schema::JobDetails::Reader job) {
  json nodes = json::array();
  const auto status = job.getStatus();
  const auto details = job.getVertices();
  for (unsigned i = 0; i < details.size(); ++i) {
    const auto vertex = status.getVertices()[i];
    json node;
    node["id"] = to_string(read_id<vertex_id>(vertex.getId()));
    node["parallelism"] = vertex.getParallelism();
    node["operator"] = "";
    node["operator_strategy"] = "";
    node["description"] = vertex.getName().cStr();
    json inputs = json::array();
    for (const auto input : details[i].getInputs())
      inputs.push_back({{"num", inputs.size()},
                        {"id", to_string(read_id<vertex_id>(input.getVertex()))},
                        {"ship_strategy", input.getPartitioner().cStr()},
                        {"exchange", "pipelined_bounded"}});
    node["inputs"] = std::move(inputs);
    node["optimizer_properties"] = json::object();
    nodes.push_back(std::move(node));
  }
  return {{"jid", to_string(read_id<job_id>(status.getJob()))},
          {"name", status.getName().cStr()},
          {"type", "STREAMING"},
          {"nodes", std::move(nodes)}};
}

std::string exception_name(const error& failure) { return std::string(name_of(failure.code)); }

} // namespace

std::string describe_jobs(const message<schema::JobList>& jobs) {
  json list = json::array();
  const auto view = jobs.view();
  for (const auto job : view->getJobs())
    list.push_back(
        {{"id", to_string(read_id<job_id>(job.getJob()))}, {"status", state_name(job.getState())}});
  return to_text({{"jobs", std::move(list)}});
}

std::string describe_jobs_overview(const message<schema::JobList>& jobs, std::int64_t now_ms) {
  json list = json::array();
  const auto view = jobs.view();
  for (const auto job : view->getJobs()) {
    state_counts counts{};
    std::int64_t total = 0;
    for (const auto vertex : job.getVertices()) {
      const auto of_vertex = counts_of(vertex);
      for (std::size_t i = 0; i < counts.size(); ++i) {
        counts.at(i) += of_vertex.at(i);
        total += of_vertex.at(i);
      }
    }
    json out;
    out["jid"] = to_string(read_id<job_id>(job.getJob()));
    out["name"] = job.getName().cStr();
    out["start-time"] = job.getStartedMs();
    out["end-time"] = end_time(job.getEndedMs());
    out["duration"] = duration_ms(job.getStartedMs(), job.getEndedMs(), now_ms);
    out["state"] = state_name(job.getState());
    out["last-modification"] = std::max(job.getStartedMs(), job.getEndedMs());
    out["tasks"] = counts_entry(counts, false);
    out["tasks"]["total"] = total;
    list.push_back(std::move(out));
  }
  return to_text({{"jobs", std::move(list)}});
}

std::string describe_job(const message<schema::JobDetails>& job, std::int64_t now_ms) {
  const auto view = job.view();
  const auto status = view->getStatus();
  json timestamps;
  for (std::size_t state = 0; state < job_state_count; ++state) {
    const auto times = view->getStateTimesMs();
    timestamps[upper_case_of(name_of(static_cast<job_state>(state)))] =
        state < times.size() ? times[static_cast<unsigned>(state)] : 0;
  }
  state_counts vertex_states{};
  json vertices = json::array();
  std::int32_t max_parallelism = -1;
  const auto details = view->getVertices();
  for (unsigned i = 0; i < details.size() && i < status.getVertices().size(); ++i) {
    const auto vertex = status.getVertices()[i];
    ++vertex_states.at(static_cast<std::size_t>(state_of(counts_of(vertex))));
    max_parallelism = std::max(max_parallelism, details[i].getMaxParallelism());
    vertices.push_back(vertex_entry(vertex, details[i], now_ms));
  }
  json out;
  out["jid"] = to_string(read_id<job_id>(status.getJob()));
  out["name"] = status.getName().cStr();
  out["isStoppable"] = false;
  out["state"] = state_name(status.getState());
  out["job-type"] = "STREAMING";
  out["start-time"] = status.getStartedMs();
  out["end-time"] = end_time(status.getEndedMs());
  out["duration"] = duration_ms(status.getStartedMs(), status.getEndedMs(), now_ms);
  out["maxParallelism"] = max_parallelism;
  out["now"] = now_ms;
  out["timestamps"] = std::move(timestamps);
  out["vertices"] = std::move(vertices);
  out["status-counts"] = counts_entry(vertex_states, true);
  out["plan"] = plan_entry(*view);
  out["restarts"] = status.getRestarts();
  out["waiting-for"] = status.getWaitingFor().cStr();
  return to_text(out);
}

std::string describe_job_config(const message<schema::JobDetails>& job) {
  const auto view = job.view();
  const auto status = view->getStatus();
  std::int32_t parallelism = 1;
  for (const auto vertex : status.getVertices())
    parallelism = std::max(parallelism, vertex.getParallelism());
  json execution;
  execution["restart-strategy"] = view->getRestartStrategy().cStr();
  execution["job-parallelism"] = parallelism;
  execution["object-reuse-mode"] = true; // rows are handed on as they are
  execution["user-config"] = json::object();
  json out;
  out["jid"] = to_string(read_id<job_id>(status.getJob()));
  out["name"] = status.getName().cStr();
  out["execution-config"] = std::move(execution);
  return to_text(out);
}

std::string describe_status(const message<schema::JobDetails>& job) {
  const auto view = job.view();
  return to_text({{"status", state_name(view->getStatus().getState())}});
}

std::string describe_accumulators(const message<schema::JobDetails>& job) {
  const auto view = job.view();
  json list = json::array();
  for (const auto one : view->getStatus().getAccumulators())
    list.push_back({{"name", one.getName().cStr()},
                    {"type", one.getType().cStr()},
                    {"value", one.getValue().cStr()}});
  return to_text({{"job-accumulators", json::array()},
                  {"user-task-accumulators", std::move(list)},
                  {"serialized-user-task-accumulators", json::object()}});
}

std::string describe_plan(const message<schema::JobDetails>& job) {
  const auto view = job.view();
  return to_text({{"plan", plan_entry(*view)}});
}

std::string describe_exceptions(const message<schema::JobDetails>& job) {
  const auto view = job.view();
  json entries = json::array();
  for (const auto past : view->getExceptions()) {
    const auto failure = read_error(past.getFailure());
    const auto executor = read_id<task_executor_id>(past.getTaskExecutor());
    json out;
    out["exceptionName"] = exception_name(failure);
    out["stacktrace"] = to_string(failure);
    out["timestamp"] = past.getTimestampMs();
    out["failureLabels"] = json::object();
    if (past.getTask().size() > 0) {
      out["taskName"] = std::string(past.getTask());
      out["endpoint"] = to_string(executor);
      out["taskManagerId"] = to_string(executor);
    }
    out["concurrentExceptions"] = json::array();
    entries.push_back(std::move(out));
  }
  return to_text(
      {{"exceptionHistory",
        {{"entries", std::move(entries)}, {"truncated", view->getExceptionsTruncated()}}}});
}

} // namespace headrace::scheduler
