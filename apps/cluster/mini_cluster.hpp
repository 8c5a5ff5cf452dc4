#pragma once

#include "apps/cluster/job_manager_process.hpp"
#include "apps/cluster/task_manager_process.hpp"
#include "libscheduler/rest/handler/cluster_handlers.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::cluster {

/// What a cluster in one process is made of.
struct mini_cluster_options {
  configuration settings;
  std::int32_t task_executors = 1;
  /// Of each task executor; 0: `taskmanager.numberOfTaskSlots`.
  std::int32_t slots = 0;
  /// Of each task executor, for state and batches; 0: `taskmanager.memory.managed.size`, else its
  /// part of what the machine has for all that are started with the cluster.
  std::uint64_t memory_bytes = 0;
  /// Where artifacts, and checkpoints of jobs that name no directory, are kept.
  std::string directory;
  /// Where state backends with files of their own keep them; empty: below `directory`.
  std::string state_directory;
  /// Local copies of state; empty: below `directory`.
  std::string local_state_directory;
  /// Where print sinks write; empty: standard output.
  std::function<status(std::string_view)> print;
};

/// A whole cluster on one node: the parts of a job manager and of task managers, the same actors as
/// in processes of their own. Reads no clock and starts no thread itself, so it runs on a
/// deterministic node as it runs on threads.
///
/// Its actors end with the node: shut the node down first, then drop this.
class mini_cluster {
public:
  /// All references live longer than the node.
  mini_cluster(actors::node& on, headrace::file_system& files, graph::job_code_loader& code,
               mini_cluster_options options);

  /// Starts what the options name, and the REST interface where `rest.port` is set.
  /// @errors storage_failed  the directory cannot be made
  /// @errors connection_failed, bad_option_value  of the REST interface
  status start();

  const actors::address& dispatcher() const { return job_manager_.dispatcher(); }
  const actors::address& blob_server() const { return job_manager_.blob_server(); }
  const actors::address& resource_manager() const { return job_manager_.resource_manager(); }
  const std::vector<actors::address>& task_executors() const { return task_executors_; }
  scheduler::cluster_addresses addresses() const;
  /// Of the REST interface; 0: `rest.port` was not set, so there is none.
  std::uint16_t rest_port() const { return rest_port_; }
  /// One more, or one in the place of one that was lost. After `start`.
  actors::address start_task_executor(std::optional<std::size_t> in_place_of = std::nullopt);

private:
  actors::node& node_;
  headrace::file_system& files_;
  graph::job_code_loader& code_;
  mini_cluster_options options_;
  graph::connector_registry connectors_;
  job_manager_process job_manager_;
  std::optional<task_manager_process> task_manager_; // once the resource manager is there
  std::vector<actors::address> task_executors_;
  std::uint16_t rest_port_ = 0;
};

/// Fills a registry with every connector and format of this build.
void register_all_connectors(graph::connector_registry& into,
                             std::function<status(std::string_view)> print);

} // namespace headrace::cluster
