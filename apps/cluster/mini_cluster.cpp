#include "apps/cluster/mini_cluster.hpp"

#include "libscheduler/artifact/blob_server_endpoint.hpp"
#include "libscheduler/dispatcher/dispatcher_endpoint.hpp"
#include "libscheduler/dispatcher/job_store.hpp"
#include "libscheduler/job_master/job_services.hpp"
#include "libscheduler/resource/resource_manager_endpoint.hpp"
#include "libtask/connector/registration.hpp"
#include "libtask/executor/task_executor_endpoint.hpp"
#include "libtask/network/exchange_directory.hpp"
#include "libtask/operator/stream_operator.hpp"

namespace headrace::cluster {
namespace {

using actors::placement;
using actors::spawn_options;

actors::address spawn(actors::node& on, std::unique_ptr<actors::endpoint> what, std::string name,
                      std::string kind) {
  spawn_options options;
  options.name = std::move(name);
  options.kind = std::move(kind);
  options.where = placement::control;
  return on.spawn(std::move(what), std::move(options));
}

} // namespace

/// What the cluster's actors share. Outlives them: the node is shut down first.
struct mini_cluster::parts {
  parts(headrace::file_system& files_in, graph::job_code_loader& code_in)
      : files(files_in), code(code_in), factories(task::make_operator_factories()) {}

  headrace::file_system& files;
  graph::job_code_loader& code;
  graph::connector_registry connectors;
  task::operator_factories factories;
  task::exchange_directory directory;
  std::shared_ptr<scheduler::job_services> services;
  std::int32_t slots = 1;
};

mini_cluster::mini_cluster(actors::node& on, headrace::file_system& files,
                           graph::job_code_loader& code, mini_cluster_options options)
    : node_(on), options_(std::move(options)), parts_(std::make_unique<parts>(files, code)) {
  register_all_connectors(parts_->connectors, options_.print);
}

mini_cluster::~mini_cluster() = default;

status mini_cluster::start() {
  HEADRACE_CHECK(parts_->files.create_directories(options_.directory));
  const auto& settings = options_.settings;
  const scheduler::heartbeat_settings heartbeat{settings.get_duration("heartbeat.interval"),
                                                settings.get_duration("heartbeat.timeout")};
  parts_->slots = options_.slots;
  if (parts_->slots == 0)
    parts_->slots = static_cast<std::int32_t>(settings.get_int("taskmanager.numberOfTaskSlots"));

  blob_server_ =
      spawn(node_,
            std::make_unique<scheduler::blob_server_endpoint>(
                scheduler::blob_server_settings{options_.directory + "/artifacts"}, parts_->files),
            "blob_server", "blob_server");
  resource_manager_ = spawn(node_,
                            std::make_unique<scheduler::resource_manager_endpoint>(
                                scheduler::resource_manager_settings{heartbeat}, nullptr),
                            "resource_manager", "resource_manager");

  auto services = std::make_shared<scheduler::job_services>();
  services->connectors = &parts_->connectors;
  services->code = &parts_->code;
  services->files = &parts_->files;
  services->artifact_directory = options_.directory + "/artifacts";
  services->checkpoint_directory = options_.directory + "/checkpoints";
  services->resource_manager = resource_manager_;
  services->blob_server = blob_server_;
  services->heartbeat = heartbeat;
  parts_->services = services;
  dispatcher_ =
      spawn(node_,
            std::make_unique<scheduler::dispatcher_endpoint>(
                scheduler::dispatcher_settings{}, scheduler::make_memory_job_store(), services),
            "dispatcher", "dispatcher");
  for (std::int32_t i = 0; i < options_.task_executors; ++i)
    start_task_executor();
  return {};
}

actors::address mini_cluster::start_task_executor() {
  const auto& settings = options_.settings;
  task::task_executor_settings wanted;
  wanted.id = node_.environment().random.next_id<task_executor_id>();
  wanted.slots = parts_->slots;
  if (settings.is_set("taskmanager.memory.managed.size"))
    wanted.memory_bytes = settings.get_memory_size("taskmanager.memory.managed.size");
  wanted.cache_directory = options_.directory + "/cache";
  wanted.resource_manager = resource_manager_;
  wanted.heartbeat_interval = settings.get_duration("heartbeat.interval");
  wanted.heartbeat_timeout = settings.get_duration("heartbeat.timeout");
  wanted.cancellation_timeout = settings.get_duration("task.cancellation.timeout");
  auto name = "task_executor-" + to_string(wanted.id).substr(0, 8);
  task_executors_.push_back(spawn(
      node_,
      std::make_unique<task::task_executor_endpoint>(
          std::move(wanted),
          task::task_executor_environment{parts_->files, parts_->connectors, parts_->factories,
                                          parts_->directory, &parts_->code}),
      std::move(name), "task_executor"));
  return task_executors_.back();
}

} // namespace headrace::cluster
