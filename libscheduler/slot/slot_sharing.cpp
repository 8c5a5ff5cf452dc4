#include "libscheduler/slot/slot_sharing.hpp"

#include <algorithm>
#include <map>

namespace headrace::scheduler {

slot_sharing::slot_sharing(const execution_graph& graph) {
  std::vector<std::string> groups; // in the graph's order
  std::map<std::string, std::int32_t> widths;
  for (const graph::job_vertex& vertex : graph.job().vertices) {
    const auto [at, is_new] = widths.emplace(vertex.slot_sharing_group, vertex.parallelism);
    if (is_new)
      groups.push_back(vertex.slot_sharing_group);
    at->second = std::max(at->second, vertex.parallelism);
  }
  std::map<std::string, std::int32_t> first_slot;
  std::int32_t slots = 0;
  for (const std::string& group : groups) {
    first_slot[group] = slots;
    slots += widths[group];
  }
  tasks_.resize(static_cast<std::size_t>(slots));
  for (task_index task = 0; task < graph.task_count(); ++task) {
    const std::int32_t slot =
        first_slot[graph.vertex_of(task).slot_sharing_group] + graph.subtask_of(task);
    slot_of_.push_back(slot);
    tasks_[static_cast<std::size_t>(slot)].push_back(task);
  }
}

} // namespace headrace::scheduler
