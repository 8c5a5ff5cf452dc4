#pragma once

#include "libscheduler/execution_graph/pipelined_region.hpp"

#include <vector>

namespace headrace::scheduler {

/// Returns the tasks that must start again when some have failed, ascending: their pipelined
/// regions and all regions downstream of these, which have read rows that will come again. With
/// `is_region_failover` false: all tasks.
std::vector<task_index> tasks_to_restart(const execution_graph& graph,
                                         const pipelined_regions& regions,
                                         const std::vector<task_index>& failed,
                                         bool is_region_failover);

} // namespace headrace::scheduler
