#include "apps/cluster/mini_cluster.hpp"

#include "apps/cluster/memory_settings.hpp"
#include "apps/cluster/rest_service.hpp"
#include "libactors/supervision/introspection_endpoint.hpp"

#include <memory>
#include <utility>

namespace headrace::cluster {

mini_cluster::mini_cluster(actors::node& on, headrace::file_system& files,
                           graph::job_code_loader& code, mini_cluster_options options)
    : node_(on), files_(files), code_(code), options_(std::move(options)),
      job_manager_(on, files, code, connectors_, {options_.settings, options_.directory, false}) {
  register_all_connectors(connectors_, options_.print);
}

status mini_cluster::start() {
  actors::spawn_introspection(node_);
  HEADRACE_CHECK(job_manager_.start());
  if (options_.memory_bytes == 0 && !options_.settings.is_set("taskmanager.memory.managed.size"))
    options_.memory_bytes =
        default_managed_memory_bytes(machine_memory_bytes(), options_.task_executors);
  task_manager_.emplace(node_, files_, code_, connectors_,
                        std::make_shared<actors::fixed_leader>(job_manager_.resource_manager()),
                        task_manager_options{options_.settings,
                                             options_.slots,
                                             {},
                                             options_.directory,
                                             options_.state_directory,
                                             options_.local_state_directory,
                                             options_.memory_bytes});
  for (std::int32_t i = 0; i < options_.task_executors; ++i)
    start_task_executor();
  if (options_.settings.is_set("rest.port")) {
    HEADRACE_TRY(const auto rest, start_rest(node_, options_.settings, addresses()));
    rest_port_ = rest.port;
  }
  return {};
}

scheduler::cluster_addresses mini_cluster::addresses() const {
  return {dispatcher(), resource_manager(), blob_server(), {}, 0, {}};
}

actors::address mini_cluster::start_task_executor(std::optional<std::size_t> in_place_of) {
  task_executors_.push_back(task_manager_->start_task_executor(in_place_of));
  return task_executors_.back();
}

} // namespace headrace::cluster
