#include "libscheduler/execution_graph/execution_graph.hpp"

#include "libactors/base/assert.hpp"

#include <utility>

namespace headrace::scheduler {

result<execution_graph> execution_graph::build(std::shared_ptr<const graph::job_graph> job,
                                               std::int32_t generation) {
  execution_graph built;
  built.job_ = std::move(job);
  for (std::size_t position = 0; position < built.job_->vertices.size(); ++position) {
    const graph::job_vertex& vertex = built.job_->vertices[position];
    if (vertex.parallelism < 1)
      return error(errc::invalid_graph, "vertex without subtasks: " + vertex.name);
    if (!built.positions_.emplace(vertex.id, static_cast<std::int32_t>(position)).second)
      return error(errc::invalid_graph, "two vertices of one id: " + to_string(vertex.id));
    built.first_task_.push_back(static_cast<task_index>(built.executions_.size()));
    for (std::int32_t subtask = 0; subtask < vertex.parallelism; ++subtask) {
      built.vertex_of_.push_back(static_cast<std::int32_t>(position));
      execution attempt;
      attempt.id = {vertex.id, subtask, 0, generation};
      built.executions_.push_back(std::move(attempt));
    }
  }
  built.counts_[static_cast<std::size_t>(task_state::created)] = built.task_count();
  HEADRACE_CHECK(built.connect());
  return built;
}

status execution_graph::connect() {
  const auto vertex_count = job_->vertices.size();
  std::unordered_map<result_id, std::pair<std::int32_t, std::int32_t>> produced;
  for (std::size_t position = 0; position < vertex_count; ++position) {
    const auto& outputs = job_->vertices[position].outputs;
    for (std::size_t output = 0; output < outputs.size(); ++output) {
      const std::pair at{static_cast<std::int32_t>(position), static_cast<std::int32_t>(output)};
      if (!produced.emplace(outputs[output].id, at).second)
        return error(errc::invalid_graph,
                     "two producers of one result: " + to_string(outputs[output].id));
    }
    outputs_.emplace_back(outputs.size(), -1);
  }
  for (std::size_t position = 0; position < vertex_count; ++position) {
    const graph::job_vertex& consumer = job_->vertices[position];
    auto& feeding = inputs_.emplace_back();
    for (std::size_t gate = 0; gate < consumer.inputs.size(); ++gate) {
      const auto found = produced.find(consumer.inputs[gate].id);
      if (found == produced.end())
        return error(errc::invalid_graph, "input without producer: vertex " + consumer.name +
                                              ", result " + to_string(consumer.inputs[gate].id));
      const auto [from, output] = found->second;
      const graph::job_vertex& producer = job_->vertices[static_cast<std::size_t>(from)];
      const graph::result_output& result = producer.outputs[static_cast<std::size_t>(output)];
      std::int32_t& consumed =
          outputs_[static_cast<std::size_t>(from)][static_cast<std::size_t>(output)];
      if (consumed >= 0)
        return error(errc::invalid_graph, "two consumers of one result: " + to_string(result.id));
      consumed = static_cast<std::int32_t>(edges_.size());
      feeding.push_back(consumed);
      edges_.push_back(
          {result.id,
           from,
           output,
           static_cast<std::int32_t>(position),
           static_cast<std::int32_t>(gate),
           result.kind,
           {pattern_of(result.partitioner.kind), producer.parallelism, consumer.parallelism}});
    }
  }
  for (std::size_t position = 0; position < vertex_count; ++position) {
    for (const std::int32_t edge : outputs_[position]) {
      if (edge < 0)
        return error(errc::invalid_graph,
                     "result without consumer: vertex " + job_->vertices[position].name);
    }
  }
  return {};
}

status execution_graph::change_state(job_state to) {
  HEADRACE_CHECK(check_transition(state_, to));
  state_ = to;
  return {};
}

std::string execution_graph::name_of(task_index task) const {
  const graph::job_vertex& vertex = vertex_of(task);
  return vertex.name + " (" + std::to_string(subtask_of(task) + 1) + "/" +
         std::to_string(vertex.parallelism) + ")";
}

std::optional<task_index> execution_graph::find(const execution_attempt_id& attempt) const {
  const auto vertex = find_vertex(attempt.vertex);
  if (!vertex || attempt.subtask < 0 ||
      attempt.subtask >= job_->vertices[static_cast<std::size_t>(*vertex)].parallelism)
    return std::nullopt;
  const task_index task = task_at(*vertex, attempt.subtask);
  if (current(task).id != attempt)
    return std::nullopt;
  return task;
}

std::optional<std::int32_t> execution_graph::find_vertex(const vertex_id& vertex) const {
  const auto found = positions_.find(vertex);
  if (found == positions_.end())
    return std::nullopt;
  return found->second;
}

status execution_graph::change_task_state(task_index task, task_state to) {
  execution& attempt = executions_[static_cast<std::size_t>(task)];
  if (auto legal = check_transition(attempt.state, to); !legal)
    return error(errc::illegal_transition, legal.error().message + ": " + name_of(task) +
                                               ", attempt " + std::to_string(attempt.id.attempt));
  --counts_[static_cast<std::size_t>(attempt.state)];
  ++counts_[static_cast<std::size_t>(to)];
  attempt.state = to;
  return {};
}

void execution_graph::assign_slot(task_index task, task_slot slot) {
  executions_[static_cast<std::size_t>(task)].slot = std::move(slot);
}

void execution_graph::note_failure(task_index task, error failure) {
  executions_[static_cast<std::size_t>(task)].failure = std::move(failure);
}

void execution_graph::note_checkpoint_awaited(task_index task) {
  executions_[static_cast<std::size_t>(task)].awaits_checkpoint = true;
}

void execution_graph::reset_task(task_index task) {
  execution& attempt = executions_[static_cast<std::size_t>(task)];
  HEADRACE_ASSERT(is_terminal(attempt.state) || attempt.state == task_state::created,
                  "only what has ended starts again");
  --counts_[static_cast<std::size_t>(attempt.state)];
  ++counts_[static_cast<std::size_t>(task_state::created)];
  execution next;
  next.id = attempt.id;
  ++next.id.attempt;
  attempt = std::move(next);
}

bool execution_graph::are_all_terminal() const {
  return count_of(task_state::finished) + count_of(task_state::canceled) +
             count_of(task_state::failed) ==
         task_count();
}

partition_id execution_graph::partition_of(const job_edge& edge,
                                           std::int32_t producer_subtask) const {
  return {edge.result, current(task_at(edge.producer, producer_subtask)).id};
}

} // namespace headrace::scheduler
