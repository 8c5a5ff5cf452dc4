#pragma once

#include "libscheduler/execution_graph/execution_graph.hpp"
#include "libactors/base/result.hpp"

#include <vector>

namespace headrace::scheduler {

/// A task that takes part in a checkpoint.
struct planned_task {
  execution_attempt_id attempt;
  actors::address location;       ///< of its task executor
  bool awaits_checkpoint = false; ///< it has read everything, and finishes with this one
};

/// Who takes part in a checkpoint.
struct checkpoint_plan {
  std::vector<planned_task> trigger;     ///< told by message; the others learn by barriers
  std::vector<planned_task> acknowledge; ///< all running tasks
  bool are_all_waiting = false; ///< every triggered task has read everything and waits for it
};

/// Plans over the tasks as they are now. Finished tasks are left out; a task all of whose producers
/// have finished gets no barrier any more, so it is triggered like a source.
/// @errors checkpoint_declined  a task neither runs nor has finished, or all have finished
result<checkpoint_plan> plan_checkpoint(const execution_graph& graph);

} // namespace headrace::scheduler
