#include "libscheduler/checkpoint/checkpoint_plan.hpp"

#include <algorithm>
#include <string>

namespace headrace::scheduler {

namespace {

bool has_running_producer(const execution_graph& graph, task_index task,
                          const std::vector<std::int32_t>& running) {
  const auto& inputs = graph.inputs_of(graph.vertex_position(task));
  return std::any_of(inputs.begin(), inputs.end(), [&](std::int32_t input) {
    const job_edge& edge = graph.edges()[static_cast<std::size_t>(input)];
    if (edge.pattern.pattern == distribution_pattern::all_to_all)
      return running[static_cast<std::size_t>(edge.producer)] > 0;
    const subtask_range producers = edge.pattern.producers_of(graph.subtask_of(task));
    for (std::int32_t producer = producers.first; producer < producers.last; ++producer) {
      if (graph.current(graph.task_at(edge.producer, producer)).state == task_state::running)
        return true;
    }
    return false;
  });
}

} // namespace

result<checkpoint_plan> plan_checkpoint(const execution_graph& graph) {
  std::vector<std::int32_t> running(graph.job().vertices.size(), 0); // by vertex
  for (task_index task = 0; task < graph.task_count(); ++task) {
    const task_state state = graph.current(task).state;
    if (state == task_state::running)
      ++running[static_cast<std::size_t>(graph.vertex_position(task))];
    else if (state != task_state::finished)
      return error(errc::checkpoint_declined, "task does not run: " + graph.name_of(task) + " is " +
                                                  std::string(name_of(state)));
  }
  checkpoint_plan plan;
  plan.are_all_waiting = true;
  for (task_index task = 0; task < graph.task_count(); ++task) {
    const execution& attempt = graph.current(task);
    if (attempt.state != task_state::running)
      continue;
    plan.acknowledge.push_back({attempt.id, attempt.slot.location, attempt.awaits_checkpoint});
    if (!has_running_producer(graph, task, running)) {
      plan.trigger.push_back(plan.acknowledge.back());
      plan.are_all_waiting = plan.are_all_waiting && attempt.awaits_checkpoint;
    }
  }
  if (plan.acknowledge.empty())
    return error(errc::checkpoint_declined, "all tasks have finished");
  return plan;
}

} // namespace headrace::scheduler
