#pragma once

#include "libscheduler/execution_graph/distribution.hpp"
#include "libscheduler/execution_graph/life_cycle.hpp"
#include "libgraph/job_graph/job_graph.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/base/result.hpp"
#include "libactors/rpc/address.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace headrace::scheduler {

/// A subtask of the whole job by number: vertex after vertex in the graph's order, in
/// [0, task_count).
using task_index = std::int32_t;

/// Where a task runs: a slot of a task executor that was given to the job.
struct task_slot {
  allocation_id allocation;
  task_executor_id executor;
  actors::address location; ///< of the task executor
  friend bool operator==(const task_slot&, const task_slot&) = default;
};

/// One attempt to run one subtask.
struct execution {
  execution_attempt_id id;
  task_state state = task_state::created;
  task_slot slot;                 ///< none until the slot is there
  bool awaits_checkpoint = false; ///< has read everything, finishes after the next checkpoint
  error failure;
};

/// An edge of the job graph: an intermediate result and the one gate that consumes it.
struct job_edge {
  result_id result;
  std::int32_t producer = 0; ///< position of the vertex in the graph
  std::int32_t output = 0;   ///< index into its outputs
  std::int32_t consumer = 0;
  std::int32_t gate = 0; ///< index into its inputs
  graph::partition_kind kind = graph::partition_kind::pipelined;
  distribution pattern;
};

/// The job as it is run: a vertex per subtask with its current attempt, and the edges over which
/// their partitions flow. All state changes are checked. Pure; lives in the job master's turns.
class execution_graph {
public:
  /// @param generation  of the job, for the ids of attempts
  /// @errors invalid_graph  a result without producer, or with more or fewer than one consumer
  static result<execution_graph> build(std::shared_ptr<const graph::job_graph> job,
                                       std::int32_t generation = 0);

  const graph::job_graph& job() const { return *job_; }
  const std::shared_ptr<const graph::job_graph>& shared_job() const { return job_; }

  job_state state() const { return state_; }
  /// @errors illegal_transition
  status change_state(job_state to);

  std::int32_t task_count() const { return static_cast<std::int32_t>(executions_.size()); }
  /// `vertex` is a position in the graph, `subtask` one of its subtasks.
  task_index task_at(std::int32_t vertex, std::int32_t subtask) const {
    return first_task_[static_cast<std::size_t>(vertex)] + subtask;
  }
  std::int32_t vertex_position(task_index task) const {
    return vertex_of_[static_cast<std::size_t>(task)];
  }
  const graph::job_vertex& vertex_of(task_index task) const {
    return job_->vertices[static_cast<std::size_t>(vertex_position(task))];
  }
  std::int32_t subtask_of(task_index task) const { return current(task).id.subtask; }
  /// "source (2/4)": for people.
  std::string name_of(task_index task) const;

  const execution& current(task_index task) const {
    return executions_[static_cast<std::size_t>(task)];
  }
  /// The task whose current attempt this is; nothing for an older attempt or an unknown vertex.
  std::optional<task_index> find(const execution_attempt_id& attempt) const;
  std::optional<std::int32_t> find_vertex(const vertex_id& vertex) const;

  /// @errors illegal_transition  names the task and both states
  status change_task_state(task_index task, task_state to);
  void assign_slot(task_index task, task_slot slot);
  void note_failure(task_index task, error failure);
  void note_checkpoint_awaited(task_index task);
  /// Makes the next attempt, created and without slot. The current one is terminal.
  void reset_task(task_index task);

  /// How many current attempts are in the state.
  std::int32_t count_of(task_state state) const {
    return counts_.at(static_cast<std::size_t>(state));
  }
  bool are_all_finished() const { return count_of(task_state::finished) == task_count(); }
  bool are_all_terminal() const;

  const std::vector<job_edge>& edges() const { return edges_; }
  /// Indices into edges(): what feeds the vertex, gate after gate.
  const std::vector<std::int32_t>& inputs_of(std::int32_t vertex) const {
    return inputs_[static_cast<std::size_t>(vertex)];
  }
  /// Indices into edges(): where the vertex's outputs go, output after output.
  const std::vector<std::int32_t>& outputs_of(std::int32_t vertex) const {
    return outputs_[static_cast<std::size_t>(vertex)];
  }
  /// The partition that the current attempt of a producer writes for an edge.
  partition_id partition_of(const job_edge& edge, std::int32_t producer_subtask) const;

private:
  execution_graph() = default;
  status connect();

  std::shared_ptr<const graph::job_graph> job_;
  job_state state_ = job_state::created;
  std::vector<task_index> first_task_;  // by vertex
  std::vector<std::int32_t> vertex_of_; // by task
  std::vector<execution> executions_;   // by task
  std::array<std::int32_t, task_state_count> counts_{};
  std::unordered_map<vertex_id, std::int32_t> positions_;
  std::vector<job_edge> edges_;
  std::vector<std::vector<std::int32_t>> inputs_;  // by vertex
  std::vector<std::vector<std::int32_t>> outputs_; // by vertex
};

} // namespace headrace::scheduler
