#include "apps/client/job_text.hpp"

#include "apps/client/text_table.hpp"
#include "libscheduler/execution_graph/life_cycle.hpp"
#include "libscheduler/rest/handler/json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

namespace headrace::client {
namespace {

using json = nlohmann::ordered_json;

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

std::string duration_of(const scheduler::job_status& job, std::int64_t now_ms) {
  return describe_duration(runtime_ms(job, now_ms));
}

std::string tasks_of(const scheduler::vertex_status& vertex) {
  std::string out;
  for (std::size_t state = 0; state < vertex.tasks_by_state.size(); ++state) {
    if (vertex.tasks_by_state[state] == 0)
      continue;
    out += (out.empty() ? "" : ", ") + std::to_string(vertex.tasks_by_state[state]) + ' ' +
           std::string(scheduler::name_of(static_cast<scheduler::task_state>(state)));
  }
  return out;
}

/// With as many digits as it has.
double part_of_1(float share) { return std::round(static_cast<double>(share) * 1'000.0) / 1'000.0; }

json to_json(const scheduler::job_status& job) {
  json vertices = json::array();
  for (const auto& vertex : job.vertices) {
    json tasks = json::object();
    for (std::size_t state = 0; state < vertex.tasks_by_state.size(); ++state)
      if (vertex.tasks_by_state[state] > 0)
        tasks[upper(scheduler::name_of(static_cast<scheduler::task_state>(state)))] =
            vertex.tasks_by_state[state];
    vertices.push_back({{"id", to_string(vertex.id)},
                        {"name", vertex.name},
                        {"parallelism", vertex.parallelism},
                        {"tasks", std::move(tasks)},
                        {"recordsIn", vertex.records_in},
                        {"recordsOut", vertex.records_out},
                        {"skippedRecords", vertex.skipped_records},
                        {"lateRecords", vertex.late_records},
                        {"busy", part_of_1(vertex.busy_share)},
                        {"backPressured", part_of_1(vertex.back_pressured_share)},
                        {"idle", part_of_1(vertex.idle_share)}});
  }
  json accumulators = json::object();
  for (const auto& each : job.accumulators)
    accumulators[each.name] = each.value;
  return {
      {"id", to_string(job.id)},
      {"name", shown_name(job.name)},
      {"state", upper(scheduler::name_of(job.state))},
      {"startedMs", job.started_ms},
      {"endedMs", job.ended_ms == 0 ? json(nullptr) : json(job.ended_ms)},
      {"restarts", job.restarts},
      {"completedCheckpoints", job.completed_checkpoints},
      {"lastCheckpoint", job.last_checkpoint},
      {"lastCheckpointPath", job.last_checkpoint_path},
      {"restoredCheckpoint", job.restored_checkpoint},
      {"waitingFor", job.waiting_for},
      {"failure", job.failure.code == errc::none ? json(nullptr) : json(to_string(job.failure))},
      {"accumulators", std::move(accumulators)},
      {"vertices", std::move(vertices)}};
}

} // namespace

std::string job_as_json(const scheduler::job_status& job) {
  return scheduler::to_text(to_json(job)) + '\n';
}

std::string jobs_as_json(const std::vector<scheduler::job_status>& jobs) {
  json out = json::array();
  for (const auto& job : jobs)
    out.push_back(to_json(job));
  return scheduler::to_text(out) + '\n';
}

std::string jobs_as_table(const std::vector<scheduler::job_status>& jobs, std::int64_t now_ms) {
  if (jobs.empty())
    return "no jobs\n";
  std::vector<std::vector<std::string>> rows{
      {"JOB", "STATE", "DURATION", "RESTARTS", "CHECKPOINTS", "NAME"}};
  for (const auto& job : jobs)
    rows.push_back({to_string(job.id), upper(scheduler::name_of(job.state)),
                    duration_of(job, now_ms), std::to_string(job.restarts),
                    std::to_string(job.completed_checkpoints), shown_name(job.name)});
  return text_table(rows);
}

std::string job_as_text(const scheduler::job_status& job, std::int64_t now_ms) {
  std::vector<std::vector<std::string>> facts{
      {"job", to_string(job.id)},
      {"name", job.name},
      {"state", upper(scheduler::name_of(job.state))},
      {"duration", duration_of(job, now_ms)},
      {"restarts", std::to_string(job.restarts)},
      {"checkpoints", std::to_string(job.completed_checkpoints)},
  };
  if (job.last_checkpoint != 0)
    facts.push_back(
        {"last checkpoint",
         std::to_string(job.last_checkpoint) +
             (job.last_checkpoint_path.empty() ? "" : " in " + job.last_checkpoint_path)});
  if (job.restored_checkpoint != 0)
    facts.push_back({"restored from", std::to_string(job.restored_checkpoint)});
  if (!job.waiting_for.empty())
    facts.push_back({"waits for", job.waiting_for});
  for (const auto& each : job.accumulators)
    facts.push_back({"accumulator " + shown_name(each.name), each.value});
  auto out = text_table(facts);
  if (job.failure.code != errc::none)
    out += "newest failure: " + to_string(job.failure) + '\n';
  std::vector<std::vector<std::string>> rows{{"VERTEX", "PARALLELISM", "IN", "OUT", "LATE",
                                              "SKIPPED", "BUSY", "BACK PRESSURED", "IDLE",
                                              "TASKS"}};
  for (const auto& vertex : job.vertices)
    rows.push_back({shown_name(vertex.name), std::to_string(vertex.parallelism),
                    std::to_string(vertex.records_in), std::to_string(vertex.records_out),
                    std::to_string(vertex.late_records), std::to_string(vertex.skipped_records),
                    describe_share(vertex.busy_share), describe_share(vertex.back_pressured_share),
                    describe_share(vertex.idle_share), tasks_of(vertex)});
  return out + '\n' + text_table(rows);
}

std::int64_t runtime_ms(const scheduler::job_status& job, std::int64_t now_ms) {
  if (job.started_ms == 0)
    return -1;
  return std::max<std::int64_t>(0, (job.ended_ms != 0 ? job.ended_ms : now_ms) - job.started_ms);
}

} // namespace headrace::client
