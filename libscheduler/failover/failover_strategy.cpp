#include "libscheduler/failover/failover_strategy.hpp"

#include <algorithm>
#include <numeric>

namespace headrace::scheduler {

std::vector<task_index> tasks_to_restart(const execution_graph& graph,
                                         const pipelined_regions& regions,
                                         const std::vector<task_index>& failed,
                                         bool is_region_failover) {
  std::vector<task_index> tasks;
  if (!is_region_failover) {
    tasks.resize(static_cast<std::size_t>(graph.task_count()));
    std::iota(tasks.begin(), tasks.end(), 0);
    return tasks;
  }
  std::vector<bool> is_reached(static_cast<std::size_t>(regions.region_count()), false);
  std::vector<std::int32_t> open;
  const auto reach = [&](std::int32_t region) {
    if (!is_reached[static_cast<std::size_t>(region)]) {
      is_reached[static_cast<std::size_t>(region)] = true;
      open.push_back(region);
    }
  };
  for (const task_index task : failed)
    reach(regions.region_of(task));
  while (!open.empty()) {
    const std::int32_t region = open.back();
    open.pop_back();
    const auto& members = regions.tasks_of(region);
    tasks.insert(tasks.end(), members.begin(), members.end());
    for (const std::int32_t consumer : regions.consumers_of(region))
      reach(consumer);
  }
  std::sort(tasks.begin(), tasks.end());
  return tasks;
}

} // namespace headrace::scheduler
