#include "libscheduler/rest/handler/vertex_handlers.hpp"

#include "libscheduler/execution_graph/life_cycle.hpp"
#include "libscheduler/rest/handler/json_text.hpp"
#include "libgraph/function/user_metrics_codec.hpp"
#include "libgraph/types/value_text.hpp"
#include "libactors/base/text.hpp"
#include "libactors/message/ids_codec.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace headrace::scheduler {
namespace {

using json = nlohmann::ordered_json;

struct found_vertex {
  schema::VertexStatus::Reader status;
  schema::VertexDetails::Reader details;
};

result<found_vertex> find_vertex(schema::JobDetails::Reader job, const vertex_id& wanted) {
  const auto all = job.getStatus().getVertices();
  const auto details = job.getVertices();
  for (unsigned i = 0; i < details.size() && i < all.size(); ++i)
    if (read_id<vertex_id>(all[i].getId()) == wanted)
      return found_vertex{all[i], details[i]};
  return error(errc::file_not_found, "no such vertex of the job: " + to_string(wanted));
}

std::string state_name(schema::TaskState state) {
  return upper_case_of(name_of(
      static_cast<task_state>(std::min(static_cast<std::size_t>(state), task_state_count - 1))));
}

json subtask_entry(schema::SubtaskDetails::Reader subtask, std::size_t number,
                   std::int64_t now_ms) {
  const auto executor = read_id<task_executor_id>(subtask.getTaskExecutor());
  const auto placed = executor.is_none() ? "(unassigned)" : to_string(executor);
  const auto metrics = subtask.getMetrics();
  json out;
  out["subtask"] = number;
  out["status"] = state_name(subtask.getState());
  out["attempt"] = subtask.getAttempt();
  out["endpoint"] = placed;
  out["start-time"] = subtask.getStartedMs() == 0 ? -1 : subtask.getStartedMs();
  out["end-time"] = end_time(subtask.getEndedMs());
  out["duration"] = duration_ms(subtask.getStartedMs(), subtask.getEndedMs(), now_ms);
  out["metrics"] = {{"read-bytes", metrics.getBytesIn()},
                    {"read-bytes-complete", true},
                    {"write-bytes", metrics.getBytesOut()},
                    {"write-bytes-complete", true},
                    {"read-records", metrics.getRecordsIn()},
                    {"read-records-complete", true},
                    {"write-records", metrics.getRecordsOut()},
                    {"write-records-complete", true},
                    {"accumulated-backpressured-time", metrics.getBackPressuredUs() / 1000},
                    {"accumulated-idle-time", metrics.getIdleUs() / 1000},
                    {"accumulated-busy-time", metrics.getBusyUs() / 1000}};
  out["taskmanager-id"] = placed;
  return out;
}

/// What one subtask counts, by Flink's names.
std::vector<std::pair<std::string, std::string>> figures_of(schema::TaskMetrics::Reader metrics) {
  std::vector<std::pair<std::string, std::string>> out = {
      {"numRecordsIn", std::to_string(metrics.getRecordsIn())},
      {"numRecordsOut", std::to_string(metrics.getRecordsOut())},
      {"numBytesIn", std::to_string(metrics.getBytesIn())},
      {"numBytesOut", std::to_string(metrics.getBytesOut())},
      {"numLateRecordsDropped", std::to_string(metrics.getLateRecords())},
      {"currentInputWatermark", std::to_string(metrics.getWatermarkMs())},
      {"accumulateBusyTimeMs", std::to_string(metrics.getBusyUs() / 1000)},
      {"accumulateBackPressuredTimeMs", std::to_string(metrics.getBackPressuredUs() / 1000)},
      {"accumulateIdleTimeMs", std::to_string(metrics.getIdleUs() / 1000)},
      {"restoredBytes", std::to_string(metrics.getRestoredBytes())},
      {"restoredLocalBytes", std::to_string(metrics.getRestoredLocalBytes())}};
  for (const auto figure : metrics.getState())
    out.emplace_back(figure.getName().cStr(), std::to_string(figure.getValue()));
  for (const auto& figure : graph::read_user_figures(metrics)) {
    if (graph::is_accumulator(figure.kind))
      continue;
    std::string value;
    if (figure.kind == graph::metric_kind::counter)
      graph::append_integer(figure.integer, value);
    else
      graph::append_double(figure.real, value);
    out.emplace_back(figure.operator_name + "." + figure.name, std::move(value));
  }
  return out;
}

} // namespace

std::string_view back_pressure_level(double share) {
  return share <= 0.1 ? "ok" : share <= 0.5 ? "low" : "high";
}

result<std::string> describe_vertex(const message<schema::JobDetails>& job, const vertex_id& wanted,
                                    std::int64_t now_ms) {
  const auto view = job.view();
  HEADRACE_TRY(const auto vertex, find_vertex(*view, wanted));
  json subtasks = json::array();
  for (const auto subtask : vertex.details.getSubtasks())
    subtasks.push_back(subtask_entry(subtask, subtasks.size(), now_ms));
  json out;
  out["id"] = to_string(wanted);
  out["name"] = vertex.status.getName().cStr();
  out["parallelism"] = vertex.status.getParallelism();
  out["maxParallelism"] = vertex.details.getMaxParallelism();
  out["now"] = now_ms;
  out["subtasks"] = std::move(subtasks);
  return to_text(out);
}

result<std::string> describe_subtask(const message<schema::JobDetails>& job,
                                     const vertex_id& wanted, std::uint32_t subtask,
                                     std::int64_t now_ms) {
  const auto view = job.view();
  HEADRACE_TRY(const auto vertex, find_vertex(*view, wanted));
  const auto subtasks = vertex.details.getSubtasks();
  if (subtask >= subtasks.size())
    return error(errc::file_not_found, "no such subtask of the vertex: " + std::to_string(subtask) +
                                           ", it has " + std::to_string(subtasks.size()));
  return to_text(subtask_entry(subtasks[subtask], subtask, now_ms));
}

result<std::string> describe_back_pressure(const message<schema::JobDetails>& job,
                                           const vertex_id& wanted, std::int64_t now_ms) {
  const auto view = job.view();
  HEADRACE_TRY(const auto vertex, find_vertex(*view, wanted));
  double most = 0;
  json subtasks = json::array();
  for (const auto subtask : vertex.details.getSubtasks()) {
    const double share = subtask.getBackPressuredShare();
    most = std::max(most, share);
    const std::string level(back_pressure_level(share));
    json out;
    out["subtask"] = subtasks.size();
    out["attempt-number"] = subtask.getAttempt();
    out["backpressure-level"] = level;
    out["backpressureLevel"] = level;
    out["ratio"] = share;
    out["idleRatio"] = static_cast<double>(subtask.getIdleShare());
    out["busyRatio"] = static_cast<double>(subtask.getBusyShare());
    subtasks.push_back(std::move(out));
  }
  const std::string level(back_pressure_level(most));
  json out;
  out["status"] = "ok";
  out["backpressure-level"] = level;
  out["backpressureLevel"] = level;
  out["end-timestamp"] = now_ms;
  out["subtasks"] = std::move(subtasks);
  return to_text(out);
}

result<std::string> describe_vertex_metrics(const message<schema::JobDetails>& job,
                                            const vertex_id& wanted,
                                            const std::optional<std::string>& names) {
  std::set<std::string_view> asked;
  const auto list = names.value_or("");
  for (const auto name : split_text(list, ','))
    asked.insert(name);
  const auto view = job.view();
  HEADRACE_TRY(const auto vertex, find_vertex(*view, wanted));
  json out = json::array();
  unsigned number = 0;
  for (const auto subtask : vertex.details.getSubtasks()) {
    const auto prefix = std::to_string(number++) + ".";
    for (const auto& [name, value] : figures_of(subtask.getMetrics())) {
      const auto id = prefix + name;
      if (names && !asked.contains(id))
        continue;
      json one;
      one["id"] = id;
      if (names)
        one["value"] = value;
      out.push_back(std::move(one));
    }
  }
  return to_text(out);
}

} // namespace headrace::scheduler
