#include "libscheduler/schedule/scheduling_strategy.hpp"

#include <numeric>

namespace headrace::scheduler {

namespace {

class eager_strategy final : public scheduling_strategy {
public:
  explicit eager_strategy(const execution_graph& graph) : graph_(graph) {}

  std::vector<task_index> on_scheduling_began() override {
    std::vector<task_index> all(static_cast<std::size_t>(graph_.task_count()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::vector<task_index> on_task_state_changed(task_index /*task*/, task_state /*now*/) override {
    return {};
  }
  std::vector<task_index> on_partition_consumable(const partition_id& /*partition*/) override {
    return {};
  }
  std::vector<task_index> on_tasks_to_restart(std::vector<task_index> tasks) override {
    return tasks;
  }

private:
  const execution_graph& graph_;
};

} // namespace

std::unique_ptr<scheduling_strategy> make_eager_strategy(const execution_graph& graph) {
  return std::make_unique<eager_strategy>(graph);
}

} // namespace headrace::scheduler
