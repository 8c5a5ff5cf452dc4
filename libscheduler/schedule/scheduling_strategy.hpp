#pragma once

#include "libscheduler/execution_graph/execution_graph.hpp"

#include <memory>
#include <vector>

namespace headrace::scheduler {

/// Decides when tasks start. Event-driven: each call states a fact and returns the tasks to be
/// scheduled now, all of them created. Pure.
class scheduling_strategy {
public:
  virtual ~scheduling_strategy() = default;
  virtual std::vector<task_index> on_scheduling_began() = 0;
  virtual std::vector<task_index> on_task_state_changed(task_index task, task_state now) = 0;
  virtual std::vector<task_index> on_partition_consumable(const partition_id& partition) = 0;
  /// The tasks were reset after a failure and may start again.
  virtual std::vector<task_index> on_tasks_to_restart(std::vector<task_index> tasks) = 0;
};

/// Starts everything at once: for streams. `graph` outlives the strategy.
std::unique_ptr<scheduling_strategy> make_eager_strategy(const execution_graph& graph);

} // namespace headrace::scheduler
