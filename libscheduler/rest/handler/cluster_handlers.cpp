#include "libscheduler/rest/handler/cluster_handlers.hpp"

#include "libscheduler/execution_graph/life_cycle.hpp"
#include "libscheduler/rest/handler/json_text.hpp"
#include "libactors/base/version.hpp"
#include "libactors/message/ids_codec.hpp"
#include "libactors/rpc/address_codec.hpp"

#include <nlohmann/json.hpp>

#include <map>

namespace headrace::scheduler {
namespace {

using json = nlohmann::ordered_json;

constexpr std::int64_t refresh_interval_ms = 3'000;

std::int64_t free_slots_of(schema::TaskExecutorStatus::Reader executor) {
  std::int64_t count = 0;
  for (const auto slot : executor.getSlots().getSlots())
    count += read_id<allocation_id>(slot.getAllocation()).is_none() ? 1 : 0;
  return count;
}

json executor_entry(schema::TaskExecutorStatus::Reader executor) {
  const auto slots = static_cast<std::int64_t>(executor.getSlots().getSlots().size());
  const auto free = free_slots_of(executor);
  const auto memory = static_cast<std::int64_t>(executor.getMemoryBytes());
  json out;
  out["id"] = to_string(read_id<task_executor_id>(executor.getId()));
  out["path"] = to_string(actors::read_address(executor.getAddress()));
  out["timeSinceLastHeartbeat"] = executor.getHeardMs();
  out["slotsNumber"] = slots;
  out["freeSlots"] = free;
  out["hardware"] = {{"managedMemory", memory}};
  out["memoryConfiguration"] = {{"managedMemory", memory}};
  return out;
}

json address_entry(const actors::address& where) {
  if (where.is_none())
    return nullptr;
  return {
      {"node", to_string(where.node)}, {"endpoint", where.endpoint}, {"instance", where.instance}};
}

} // namespace

std::string describe_overview(const message<schema::JobList>& jobs,
                              const message<schema::TaskExecutorList>& executors) {
  std::int64_t running = 0;
  std::map<job_state, std::int64_t> ended;
  const auto job_view = jobs.view();
  for (const auto job : job_view->getJobs()) {
    const auto state = static_cast<job_state>(job.getState());
    if (is_terminal(state))
      ++ended[state];
    else
      ++running;
  }
  std::int64_t slots = 0;
  std::int64_t free = 0;
  const auto executor_view = executors.view();
  for (const auto executor : executor_view->getExecutors()) {
    slots += static_cast<std::int64_t>(executor.getSlots().getSlots().size());
    free += free_slots_of(executor);
  }
  json out;
  out["taskmanagers"] = executor_view->getExecutors().size();
  out["slots-total"] = slots;
  out["slots-available"] = free;
  out["jobs-running"] = running;
  out["jobs-finished"] = ended[job_state::finished];
  out["jobs-cancelled"] = ended[job_state::canceled];
  out["jobs-failed"] = ended[job_state::failed];
  out["flink-version"] = version();
  out["flink-commit"] = "";
  return to_text(out);
}

std::string describe_config() {
  json out;
  out["refresh-interval"] = refresh_interval_ms;
  out["timezone-name"] = "UTC";
  out["timezone-offset"] = 0;
  out["flink-version"] = version();
  out["flink-revision"] = "";
  out["features"] = {
      {"web-submit", false}, {"web-cancel", true}, {"web-rescale", false}, {"web-history", false}};
  return to_text(out);
}

std::string describe_settings(const std::map<std::string, std::string, std::less<>>& settings) {
  json out = json::array();
  for (const auto& [key, value] : settings) {
    const bool is_secret = key.find("secret") != key.npos || key.find("password") != key.npos;
    out.push_back({{"key", key}, {"value", is_secret ? "******" : value}});
  }
  return to_text(out);
}

std::string describe_executors(const message<schema::TaskExecutorList>& executors) {
  json list = json::array();
  const auto view = executors.view();
  for (const auto executor : view->getExecutors())
    list.push_back(executor_entry(executor));
  return to_text({{"taskmanagers", std::move(list)}});
}

result<std::string> describe_executor(const message<schema::TaskExecutorList>& executors,
                                      const task_executor_id& wanted) {
  const auto view = executors.view();
  for (const auto executor : view->getExecutors()) {
    if (read_id<task_executor_id>(executor.getId()) != wanted)
      continue;
    json out = executor_entry(executor);
    json slots = json::array();
    for (const auto slot : executor.getSlots().getSlots()) {
      if (!read_id<allocation_id>(slot.getAllocation()).is_none())
        slots.push_back(
            {{"index", slot.getIndex()},
             {"jobId", to_string(read_id<job_id>(slot.getJob()))},
             {"allocationId", to_string(read_id<allocation_id>(slot.getAllocation()))}});
    }
    out["allocatedSlots"] = std::move(slots);
    return to_text(out);
  }
  return error(errc::file_not_found, "no such task manager: " + to_string(wanted));
}

std::string describe_cluster(const cluster_addresses& known) {
  json out;
  out["version"] = version();
  if (!known.cluster_id.empty())
    out["cluster-id"] = known.cluster_id;
  if (known.rpc_port == 0)
    out["jobmanager"] = nullptr;
  else
    out["jobmanager"] = {{"rpc-address", known.rpc_address}, {"rpc-port", known.rpc_port}};
  out["dispatcher"] = address_entry(known.dispatcher);
  out["resource-manager"] = address_entry(known.resource_manager);
  out["blob-server"] = address_entry(known.blob_server);
  out["job-settings"] = known.job_settings;
  return to_text(out);
}

} // namespace headrace::scheduler
