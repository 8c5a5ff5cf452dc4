#pragma once

#include "libgraph/connector/registry.hpp"
#include "libgraph/function/function.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/option.hpp"
#include "libactors/rpc/node.hpp"

#include <cstdint>
#include <functional>
#include <memory>
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
  /// Where artifacts, and checkpoints of jobs that name no directory, are kept.
  std::string directory;
  /// Where print sinks write; empty: standard output.
  std::function<void(std::string_view)> print;
};

/// A whole cluster on one node: blob server, resource manager, dispatcher and task executors, the
/// same actors as in processes of their own. Reads no clock and starts no thread itself, so it runs
/// on a deterministic node as it runs on threads.
///
/// Its actors end with the node: shut the node down first, then drop this.
class mini_cluster {
public:
  /// All references live longer than the node.
  mini_cluster(actors::node& on, headrace::file_system& files, graph::job_code_loader& code,
               mini_cluster_options options);
  ~mini_cluster();
  mini_cluster(const mini_cluster&) = delete;
  mini_cluster& operator=(const mini_cluster&) = delete;

  /// Starts what the options name. @errors storage_failed  the directory cannot be made
  status start();

  const actors::address& dispatcher() const { return dispatcher_; }
  const actors::address& blob_server() const { return blob_server_; }
  const actors::address& resource_manager() const { return resource_manager_; }
  const std::vector<actors::address>& task_executors() const { return task_executors_; }
  /// One more, or one in the place of one that was lost.
  actors::address start_task_executor();

private:
  struct parts;
  actors::node& node_;
  mini_cluster_options options_;
  std::unique_ptr<parts> parts_;
  actors::address dispatcher_;
  actors::address blob_server_;
  actors::address resource_manager_;
  std::vector<actors::address> task_executors_;
};

/// Fills a registry with every connector and format of this build.
void register_all_connectors(graph::connector_registry& into,
                             std::function<void(std::string_view)> print);

} // namespace headrace::cluster
