#include "apps/cluster/task_manager_process.hpp"

#include "apps/cluster/cluster_actor.hpp"
#include "apps/cluster/memory_settings.hpp"
#include "libtask/executor/task_executor_endpoint.hpp"
#include "libtask/network/exchange_directory.hpp"
#include "libtask/operator/stream_operator.hpp"

#include <chrono>
#include <utility>

namespace headrace::cluster {
namespace {

constexpr std::chrono::milliseconds leave_timeout{2'000};

} // namespace

/// What the task executors share. Outlives them: the node is shut down first.
struct task_manager_process::parts {
  parts(headrace::file_system& files_in, graph::job_code_loader& code_in,
        const graph::connector_registry& connectors_in,
        std::shared_ptr<actors::leader_retrieval> leader_in)
      : files(files_in), code(code_in), connectors(connectors_in), leader(std::move(leader_in)),
        factories(task::make_operator_factories()) {}

  headrace::file_system& files;
  graph::job_code_loader& code;
  const graph::connector_registry& connectors;
  std::shared_ptr<actors::leader_retrieval> leader;
  task::operator_factories factories;
  task::exchange_directory directory;
};

task_manager_process::task_manager_process(actors::node& on, headrace::file_system& files,
                                           graph::job_code_loader& code,
                                           const graph::connector_registry& connectors,
                                           std::shared_ptr<actors::leader_retrieval> leader,
                                           task_manager_options options)
    : node_(on), options_(std::move(options)),
      parts_(std::make_unique<parts>(files, code, connectors, std::move(leader))) {}

task_manager_process::~task_manager_process() = default;

actors::address task_manager_process::start_task_executor() {
  const auto& settings = options_.settings;
  task::task_executor_settings wanted;
  wanted.id = node_.environment().random.next_id<task_executor_id>();
  wanted.slots = options_.slots;
  if (wanted.slots == 0 && settings.is_set("taskmanager.numberOfTaskSlots"))
    wanted.slots = static_cast<std::int32_t>(settings.get_int("taskmanager.numberOfTaskSlots"));
  if (wanted.slots == 0)
    wanted.slots = 1;
  wanted.memory_bytes = options_.memory_bytes;
  if (wanted.memory_bytes == 0)
    wanted.memory_bytes = settings.is_set("taskmanager.memory.managed.size")
                              ? settings.get_memory_size("taskmanager.memory.managed.size")
                              : default_managed_memory_bytes(machine_memory_bytes(), 1);
  wanted.cache_directory = options_.directory + "/cache";
  wanted.state_directory =
      options_.state_directory.empty() ? options_.directory + "/state" : options_.state_directory;
  wanted.state_memory_bytes = state_memory_bytes(settings, wanted.memory_bytes);
  wanted.leader = parts_->leader;
  wanted.on_registered = options_.on_registered;
  wanted.heartbeat_interval = settings.get_duration("heartbeat.interval");
  wanted.heartbeat_timeout = settings.get_duration("heartbeat.timeout");
  wanted.wire.compresses = settings.get_bool("taskmanager.network.compression");
  wanted.cancellation_timeout = settings.get_duration("task.cancellation.timeout");
  auto name = "task_executor-" + to_string(wanted.id).substr(0, 8);
  executors_.push_back(spawn_actor(
      node_,
      std::make_unique<task::task_executor_endpoint>(
          std::move(wanted),
          task::task_executor_environment{parts_->files, parts_->connectors, parts_->factories,
                                          parts_->directory, &parts_->code, options_.network}),
      std::move(name), "task_executor"));
  return executors_.back();
}

void task_manager_process::leave(const std::string& cause) {
  message_builder<schema::LeaveCluster> order;
  order->setCause(cause);
  const auto words = order.finish();
  for (const auto& each : executors_)
    static_cast<void>(node_.ask_and_wait<schema::Acknowledge>(each, words, leave_timeout));
}

} // namespace headrace::cluster
