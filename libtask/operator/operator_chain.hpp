#pragma once

#include "libtask/operator/chain_snapshot.hpp"
#include "libtask/operator/stream_operator.hpp"
#include "libgraph/job_graph/job_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headrace::task {

/// What leaves a chain: rows to one result of the vertex; control elements to each result of the
/// operator that forwards them.
class chain_results {
public:
  virtual ~chain_results() = default;
  virtual void emit(std::size_t result, graph::record_batch rows) = 0;
  virtual void broadcast(std::size_t result, const graph::stream_element& element) = 0;
};

/// The operators of one vertex, as a tree. What one emits waits at the next, at most one bounded
/// piece; `step` always works on the one furthest downstream, so a chain holds little, and is
/// drained when it has nothing left to do. Barriers pass through in order like rows: each operator
/// is snapshotted when the barrier passes it.
///
/// The event time of each operator is part of its snapshot, and what it goes on from: the watermark
/// is the first that it takes, and of those behind it only what is larger. So a row that came too
/// late before comes too late again, and no window fires twice.
///
///     source ─▶ filter ─┬▶ map ─▶ result 0
///                       └▶ (late) sink
///
/// Lives on the subtask's mailbox.
class operator_chain {
public:
  /// Makes all operators. @errors unknown_operator, invalid_graph, graph_mismatch,
  /// unknown_connector
  static result<std::unique_ptr<operator_chain>> make(const graph::job_vertex& vertex,
                                                      const operator_factories& factories,
                                                      const operator_context& context,
                                                      chain_results& results);
  ~operator_chain();
  operator_chain(const operator_chain&) = delete;
  operator_chain& operator=(const operator_chain&) = delete;

  /// Makes the state of each operator and restores it. May block: is called on an executor thread,
  /// before anything else.
  /// @param local_directory  for backends with files of their own
  /// @param local_first      knows local copies; a wrong one is refused, and what is stored is read
  status restore(state::state_backend& backend, const state::task_state_snapshot& from,
                 const std::string& local_directory, state::local_first_files& local_first);
  /// Whether an operator has keyed state, once restored.
  bool is_keyed() const;
  /// Opens each operator and its states: on the mailbox, or, where the backend may take long, on an
  /// executor thread.
  status open(bool may_drop_state = false);

  // --- input for the head: one at a time, when drained
  void add(std::int32_t input, graph::record_batch rows);
  void add(graph::stream_element control);
  void end_input(std::int32_t input);

  /// Whether nothing is left to do for what was taken.
  bool is_drained() const { return work_ == 0; }
  /// The operator with the next work cannot take what waits for it.
  bool is_blocked() const;
  /// Whether every operator can take rows.
  bool takes_rows() const;
  /// How many at once, so that none of them takes long.
  std::size_t rows_wanted() const;
  /// Lets operators emit what is due outside of input; `step` does.
  void take_due();
  /// Does one bounded piece of work. Nothing happens when drained or blocked.
  status step(const drain_budget& budget);

  // --- a source at the head
  bool has_source() const { return has_source_; }
  bool is_source(operator_id which) const;
  /// Whether a barrier that was added has yet to pass the source, which is not snapshotted before.
  bool has_barrier_at_source() const;
  source_readiness readiness() const;
  /// Lets a ready source emit; the next `step` does.
  void poll_source();
  /// Ends the source before it has read everything: event time ends, then the input.
  void end_source();
  void set_output_available(bool available);
  void set_rows_max(std::size_t rows);
  /// All inputs (or the source) have ended, and what followed from it has been emitted.
  bool has_ended() const { return ended_nodes_ == nodes_.size(); }
  bool has_unfinished_work() const;

  // --- time, events, checkpoints
  std::optional<std::int64_t> next_processing_time_ms();
  void fire_processing_time(std::int64_t now_ms);
  status on_event(operator_id to, byte_view event);
  /// A checkpoint whose barrier has passed all operators, and what remains to be written. Nothing:
  /// none is complete. An operator's failure to snapshot is in `failure`.
  struct finished_snapshot {
    std::unique_ptr<chain_snapshot> content;
    std::optional<error> failure;
    std::int64_t synchronous_us = 0;
  };
  std::optional<finished_snapshot> take_snapshot();
  status notify_completed(checkpoint_id checkpoint);
  status notify_aborted(checkpoint_id checkpoint);
  void close();

  std::size_t size() const { return nodes_.size(); }
  stream_operator& at(std::size_t index);

private:
  struct node;
  class node_output;
  struct pending_snapshot;
  operator_chain(const operator_context& context, chain_results& results);

  status restore(node& one, state::state_backend& backend,
                 const state::operator_subtask_state& from, const std::string& local_directory,
                 state::local_first_files& local_first);
  void link(const graph::job_vertex& vertex);
  /// Whether an operator can take what waits for it: there is something.
  static bool takes_next(const node& at);
  void push(std::size_t to, std::int32_t input, graph::stream_element element);
  status take_next(std::size_t index);
  status begin(node& at, std::int32_t input, graph::stream_element& element);
  status advance(std::size_t index, std::int32_t input, graph::watermark mark);
  /// @returns whether the operator's event time rises
  bool reach(std::size_t index, graph::watermark mark);
  status drain(std::size_t index, const drain_budget& budget);
  void forward(std::size_t index, const graph::stream_element& element);
  void end(std::size_t index);
  status snapshot(std::size_t index, const graph::barrier& passing);
  result<std::unique_ptr<state::raw_snapshot>> take_raw_state(node& at) const;
  template <class Call>
  auto guarded(const node& at, Call&& call) const -> decltype(call());
  error named(const node& at, error cause) const;
  void set_draining(node& at, bool draining);

  operator_context context_;
  chain_results& results_;
  std::vector<std::unique_ptr<node>> nodes_;
  std::size_t work_ = 0; ///< waiting elements, and operators that drain
  std::size_t ended_nodes_ = 0;
  bool has_source_ = false;
  std::deque<std::shared_ptr<pending_snapshot>> snapshots_;
  bool closed_ = false;
};

} // namespace headrace::task
