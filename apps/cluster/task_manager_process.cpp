#include "apps/cluster/task_manager_process.hpp"

#include "apps/cluster/cluster_actor.hpp"
#include "apps/cluster/memory_settings.hpp"
#include "libtask/executor/task_executor_endpoint.hpp"
#include "libtask/network/exchange_directory.hpp"
#include "libtask/operator/stream_operator.hpp"
#include "libactors/base/digest.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace headrace::cluster {
namespace {

constexpr std::chrono::milliseconds leave_timeout{2'000};

} // namespace

task_executor_id resource_id(const std::string& name, std::size_t number) {
  const auto digest = sha256_hex(name + "#" + std::to_string(number));
  return *parse_id<task_executor_tag>(std::string_view(digest).substr(0, 32));
}

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

task_executor_id task_manager_process::id_of(std::size_t number) {
  const auto name = options_.settings.get_text("taskmanager.resource-id");
  if (name.empty())
    return node_.environment().random.next_id<task_executor_id>();
  return resource_id(name, number);
}

actors::address task_manager_process::start_task_executor(std::optional<std::size_t> in_place_of) {
  const auto& settings = options_.settings;
  task::task_executor_settings wanted;
  const auto number = in_place_of.value_or(executors_.size());
  wanted.id = id_of(number);
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
  if (settings.get_bool("execution.state-recovery.from-local"))
    wanted.local_state_directory =
        (options_.local_state_directory.empty() ? options_.directory + "/local_state"
                                                : options_.local_state_directory) +
        "/" + to_string(wanted.id);
  wanted.segment_bytes =
      settings.get_bool("execution.checkpointing.file-merging.enabled")
          ? settings.get_memory_size("execution.checkpointing.file-merging.max-file-size")
          : 0;
  wanted.state_memory_bytes = state_memory_bytes(settings, wanted.memory_bytes);
  wanted.state_read_threads =
      static_cast<std::int32_t>(settings.get_int("state.backend.rocksdb.read-threads"));
  wanted.leader = parts_->leader;
  wanted.on_registered = options_.on_registered;
  wanted.heartbeat_interval = settings.get_duration("heartbeat.interval");
  wanted.heartbeat_timeout = settings.get_duration("heartbeat.timeout");
  wanted.wire.compresses = settings.get_bool("taskmanager.network.compression");
  wanted.cancellation_timeout = settings.get_duration("task.cancellation.timeout");
  auto name = "task_executor-" + to_string(wanted.id).substr(0, 8);
  executors_.resize(std::max(executors_.size(), number + 1));
  executors_[number] = spawn_actor(
      node_,
      std::make_unique<task::task_executor_endpoint>(
          std::move(wanted),
          task::task_executor_environment{parts_->files, parts_->connectors, parts_->factories,
                                          parts_->directory, &parts_->code, options_.network}),
      std::move(name), "task_executor");
  return executors_[number];
}

void task_manager_process::leave(const std::string& cause) {
  message_builder<schema::LeaveCluster> order;
  order->setCause(cause);
  const auto words = order.finish();
  for (const auto& each : executors_)
    static_cast<void>(node_.ask_and_wait<schema::Acknowledge>(each, words, leave_timeout));
}

} // namespace headrace::cluster
