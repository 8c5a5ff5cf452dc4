#pragma once

#include "libscheduler/execution_graph/execution_graph.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::scheduler {

/// Says which tasks share a slot: subtask i of every vertex of a slot sharing group goes into the
/// group's i-th shared slot. So a slot holds at most one subtask of a vertex, and a group takes as
/// many slots as its widest vertex has subtasks. Immutable.
///
///              slot 0      slot 1
///     source   source 0    source 1
///     sum      sum 0       sum 1
///     sink     sink 0
class slot_sharing {
public:
  explicit slot_sharing(const execution_graph& graph);

  std::int32_t slot_count() const { return static_cast<std::int32_t>(tasks_.size()); }
  std::int32_t slot_of(task_index task) const { return slot_of_[static_cast<std::size_t>(task)]; }
  const std::vector<task_index>& tasks_in(std::int32_t slot) const {
    return tasks_[static_cast<std::size_t>(slot)];
  }

private:
  std::vector<std::int32_t> slot_of_;
  std::vector<std::vector<task_index>> tasks_;
};

} // namespace headrace::scheduler
