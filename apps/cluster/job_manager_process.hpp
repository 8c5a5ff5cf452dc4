#pragma once

#include "libgraph/connector/registry.hpp"
#include "libgraph/function/function.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/option.hpp"
#include "libactors/rpc/node.hpp"

#include <chrono>
#include <string>

namespace headrace::cluster {

struct job_manager_options {
  configuration settings;
  /// Where artifacts, and checkpoints of jobs that name no directory, are kept; job graphs too
  /// when jobs are to last.
  std::string directory;
  /// Whether jobs that have not ended are run on by the next job manager with that directory.
  bool are_jobs_lasting = false;
};

/// The job manager's actors on one node: blob server, resource manager and dispatcher, which starts
/// the job masters. Reads no clock and starts no thread itself, so it runs on a deterministic node
/// as it runs on threads. The actors end with the node: shut the node down first, then drop this.
class job_manager_process {
public:
  /// All references live longer than the node.
  job_manager_process(actors::node& on, headrace::file_system& files, graph::job_code_loader& code,
                      const graph::connector_registry& connectors, job_manager_options options);

  /// Starts the actors; jobs that a former one left begin again.
  /// @errors storage_failed, storage_full  the directory cannot be made
  status start();
  /// Takes a last checkpoint of each job and stops to run it, for the next job manager to run on.
  /// From outside of any actor; blocks.
  /// @param patience  for the checkpoints; then jobs are suspended without
  status suspend(std::chrono::milliseconds patience);

  const actors::address& dispatcher() const { return dispatcher_; }
  const actors::address& blob_server() const { return blob_server_; }
  const actors::address& resource_manager() const { return resource_manager_; }

private:
  actors::node& node_;
  headrace::file_system& files_;
  graph::job_code_loader& code_;
  const graph::connector_registry& connectors_;
  job_manager_options options_;
  actors::address dispatcher_;
  actors::address blob_server_;
  actors::address resource_manager_;
};

} // namespace headrace::cluster
