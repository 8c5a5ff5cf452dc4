#include "apps/cluster/job_manager_process.hpp"

#include "apps/cluster/cluster_actor.hpp"
#include "libscheduler/artifact/blob_server_endpoint.hpp"
#include "libscheduler/dispatcher/dispatcher_endpoint.hpp"
#include "libscheduler/dispatcher/job_store.hpp"
#include "libscheduler/job_master/job_services.hpp"
#include "libscheduler/resource/resource_manager_endpoint.hpp"

#include <memory>
#include <utility>

namespace headrace::cluster {
namespace {

/// For the answer, beyond the time that is for the work.
constexpr std::chrono::milliseconds answer_grace{2'000};

} // namespace

job_manager_process::job_manager_process(actors::node& on, headrace::file_system& files,
                                         graph::job_code_loader& code,
                                         const graph::connector_registry& connectors,
                                         job_manager_options options)
    : node_(on), files_(files), code_(code), connectors_(connectors), options_(std::move(options)) {
}

status job_manager_process::start() {
  const std::string& directory = options_.directory;
  HEADRACE_CHECK(files_.create_directories(directory));
  const auto& settings = options_.settings;
  const actors::heartbeat_options heartbeat{settings.get_duration("heartbeat.interval"),
                                            settings.get_duration("heartbeat.timeout")};
  blob_server_ = spawn_actor(node_,
                             std::make_unique<scheduler::blob_server_endpoint>(
                                 scheduler::blob_server_settings{directory + "/artifacts"}, files_),
                             "blob_server", "blob_server");
  resource_manager_ = spawn_actor(node_,
                                  std::make_unique<scheduler::resource_manager_endpoint>(
                                      scheduler::resource_manager_settings{heartbeat}, nullptr),
                                  "resource_manager", "resource_manager");

  auto services = std::make_shared<scheduler::job_services>();
  services->connectors = &connectors_;
  services->code = &code_;
  services->files = &files_;
  services->artifact_directory = directory + "/artifacts";
  services->checkpoint_directory = directory + "/checkpoints";
  services->resource_manager = resource_manager_;
  services->blob_server = blob_server_;
  services->heartbeat = heartbeat;
  if (options_.are_jobs_lasting)
    services->recorded_checkpoints =
        std::make_shared<const scheduler::checkpoint_records>(files_, directory + "/jobs");
  auto store = options_.are_jobs_lasting
                   ? scheduler::make_file_job_store(files_, directory + "/jobs")
                   : scheduler::make_memory_job_store();
  dispatcher_ =
      spawn_actor(node_,
                  std::make_unique<scheduler::dispatcher_endpoint>(
                      scheduler::dispatcher_settings{}, std::move(store), std::move(services)),
                  "dispatcher", "dispatcher");
  return {};
}

status job_manager_process::suspend(std::chrono::milliseconds patience) {
  message_builder<schema::SuspendJobs> order;
  order->setTimeoutMs(patience.count());
  HEADRACE_CHECK(node_.ask_and_wait<schema::Acknowledge>(dispatcher_, order.finish(),
                                                         2 * patience + answer_grace));
  return {};
}

} // namespace headrace::cluster
