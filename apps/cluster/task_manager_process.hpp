#pragma once

#include "libgraph/connector/registry.hpp"
#include "libgraph/function/function.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/option.hpp"
#include "libactors/leader/leader_retrieval.hpp"
#include "libactors/rpc/node.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headrace::task {
class data_network;
}

namespace headrace::cluster {

struct task_manager_options {
  configuration settings;
  /// Of each task executor; 0: `taskmanager.numberOfTaskSlots`, else 1.
  std::int32_t slots = 0;
  std::function<void()> on_registered; ///< see task_executor_settings
  /// Where fetched artifacts are kept.
  std::string directory;
  /// Where state backends with files of their own keep them; empty: below `directory`.
  std::string state_directory;
  /// Local copies of state; each task executor has a directory below it. Empty: below `directory`.
  std::string local_state_directory;
  /// Of each task executor, for state and batches; 0: `taskmanager.memory.managed.size`, else what
  /// a task manager has that is alone on its machine.
  std::uint64_t memory_bytes = 0;
  /// Links to the data planes of other processes; null: all tasks of a job run in this one.
  task::data_network* network = nullptr;
};

/// The id of the n-th task executor of a process that is named by taskmanager.resource-id.
task_executor_id resource_id(const std::string& name, std::size_t number);

/// The task executors of one process (one, but in a mini cluster), with what they share. Reads no
/// clock and starts no thread itself. The actors end with the node: shut the node down first, then
/// drop this.
class task_manager_process {
public:
  /// All references live longer than the node. `leader` finds the resource manager.
  task_manager_process(actors::node& on, headrace::file_system& files, graph::job_code_loader& code,
                       const graph::connector_registry& connectors,
                       std::shared_ptr<actors::leader_retrieval> leader,
                       task_manager_options options);
  ~task_manager_process();
  task_manager_process(const task_manager_process&) = delete;
  task_manager_process& operator=(const task_manager_process&) = delete;

  /// One more, or one in the place of the n-th, which has ended: under its id, if it has a name.
  actors::address start_task_executor(std::optional<std::size_t> in_place_of = std::nullopt);
  /// Has the task executors take leave of resource manager and job masters, so that what they run
  /// is failed over at once. From outside of any actor; blocks.
  void leave(const std::string& cause);

private:
  task_executor_id id_of(std::size_t number);

  struct parts;
  actors::node& node_;
  task_manager_options options_;
  std::unique_ptr<parts> parts_;
  std::vector<actors::address> executors_;
};

} // namespace headrace::cluster
