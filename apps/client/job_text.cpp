#include "apps/client/job_text.hpp"

#include "libscheduler/execution_graph/life_cycle.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
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
  if (job.started_ms == 0)
    return "-";
  const auto ms =
      std::max<std::int64_t>(0, (job.ended_ms != 0 ? job.ended_ms : now_ms) - job.started_ms);
  char text[48];
  if (ms < 60'000)
    std::snprintf(&text[0], sizeof(text), "%.1f s", static_cast<double>(ms) / 1'000.0);
  else if (ms < 3'600'000)
    std::snprintf(&text[0], sizeof(text), "%lld min %02lld s", static_cast<long long>(ms / 60'000),
                  static_cast<long long>(ms / 1'000 % 60));
  else
    std::snprintf(&text[0], sizeof(text), "%lld h %02lld min",
                  static_cast<long long>(ms / 3'600'000), static_cast<long long>(ms / 60'000 % 60));
  return &text[0];
}

/// Lays columns out under one another; the last is not padded.
std::string table_of(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size())
        out.append(widths[i] - row[i].size() + 2, ' ');
    }
    out += '\n';
  }
  return out;
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
                        {"lateRecords", vertex.late_records}});
  }
  return {
      {"id", to_string(job.id)},
      {"name", job.name},
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
      {"vertices", std::move(vertices)}};
}

void append_actors(const std::string& parent, int depth,
                   const std::map<std::string, std::vector<const json*>>& children,
                   std::vector<std::vector<std::string>>& rows) {
  const auto found = children.find(parent);
  if (found == children.end() || depth > 32)
    return;
  for (const auto* actor : found->second) {
    const auto name = actor->value("name", "");
    const auto slash = name.rfind('/');
    rows.push_back({std::string(static_cast<std::size_t>(depth) * 2, ' ') +
                        (slash == std::string::npos ? name : name.substr(slash + 1)),
                    actor->value("kind", ""), actor->value("state", "")});
    append_actors(name, depth + 1, children, rows);
  }
}

} // namespace

std::string job_as_json(const scheduler::job_status& job) { return to_json(job).dump() + '\n'; }

std::string jobs_as_json(const std::vector<scheduler::job_status>& jobs) {
  json out = json::array();
  for (const auto& job : jobs)
    out.push_back(to_json(job));
  return out.dump() + '\n';
}

std::string jobs_as_table(const std::vector<scheduler::job_status>& jobs, std::int64_t now_ms) {
  if (jobs.empty())
    return "no jobs\n";
  std::vector<std::vector<std::string>> rows{
      {"JOB", "STATE", "DURATION", "RESTARTS", "CHECKPOINTS", "NAME"}};
  for (const auto& job : jobs)
    rows.push_back({to_string(job.id), upper(scheduler::name_of(job.state)),
                    duration_of(job, now_ms), std::to_string(job.restarts),
                    std::to_string(job.completed_checkpoints), job.name});
  return table_of(rows);
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
  auto out = table_of(facts);
  if (job.failure.code != errc::none)
    out += "newest failure: " + to_string(job.failure) + '\n';
  std::vector<std::vector<std::string>> rows{{"VERTEX", "PARALLELISM", "IN", "OUT", "TASKS"}};
  for (const auto& vertex : job.vertices)
    rows.push_back({vertex.name, std::to_string(vertex.parallelism),
                    std::to_string(vertex.records_in), std::to_string(vertex.records_out),
                    tasks_of(vertex)});
  return out + '\n' + table_of(rows);
}

result<std::string> actors_as_tree(const std::string& page) {
  const auto read = json::parse(page, nullptr, false);
  if (read.is_discarded() || !read.is_object() || !read.contains("actors"))
    return error(errc::malformed_message, "cluster does not list its actors");
  std::map<std::string, std::map<std::string, std::vector<const json*>>> by_node;
  for (const auto& actor : read["actors"])
    by_node[actor.value("node", "")][actor.value("parent", "")].push_back(&actor);
  std::string out;
  for (const auto& [node, children] : by_node) {
    std::vector<std::vector<std::string>> rows;
    append_actors("", 1, children, rows);
    out += "node " + node + '\n' + table_of(rows);
  }
  return out;
}

} // namespace headrace::client
