#pragma once

#include "libscheduler/execution_graph/execution_graph.hpp"

#include <cstdint>
#include <vector>

namespace headrace::scheduler {

/// Cuts a job into pipelined regions: tasks between which rows flow while both run. They start and
/// fail together; what lies between regions is a blocking partition. Computed once; immutable.
class pipelined_regions {
public:
  explicit pipelined_regions(const execution_graph& graph);

  std::int32_t region_count() const { return static_cast<std::int32_t>(tasks_.size()); }
  std::int32_t region_of(task_index task) const {
    return region_of_[static_cast<std::size_t>(task)];
  }
  /// Ascending.
  const std::vector<task_index>& tasks_of(std::int32_t region) const {
    return tasks_[static_cast<std::size_t>(region)];
  }
  /// Regions that read blocking partitions of this one; ascending.
  const std::vector<std::int32_t>& consumers_of(std::int32_t region) const {
    return consumers_[static_cast<std::size_t>(region)];
  }

private:
  std::vector<std::int32_t> region_of_;
  std::vector<std::vector<task_index>> tasks_;
  std::vector<std::vector<std::int32_t>> consumers_;
};

} // namespace headrace::scheduler
