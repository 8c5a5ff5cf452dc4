#pragma once

#include "libtask/checkpoint/begun_checkpoints.hpp"
#include "libtask/input/input_gate.hpp"
#include "libtask/mailbox/task_metrics.hpp"
#include "libtask/network/result_partition.hpp"
#include "libtask/operator/operator_chain.hpp"
#include "libtask/task/batch_pacer.hpp"
#include "libtask/task/memory_arbiter.hpp"
#include "libactors/base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace headrace::task {

/// What one turn of a task left it in.
enum class turn_result : std::uint8_t {
  again,    ///< there is more to do: take another turn
  idle,     ///< no input
  blocked,  ///< results without credit, or a full sink
  finished, ///< everything is done and given on
};

/// The work of one subtask: input gate → operator chain → result partitions, in bounded turns, with
/// barriers and the end of input. Knows no actor: it is told what came, and asked what to do next.
///
/// A turn works downstream first; takes the next input or barrier only when the chain is drained
/// and every result has credit; flushes what is pending when it runs out of input. After the end of
/// input, with checkpointing, it waits until a checkpoint that holds the end is complete. Behind
/// the barrier of a savepoint that ends the job nothing is emitted: the task holds, and finishes
/// when the savepoint is complete, or goes on when it is given up.
///
/// A barrier that may overtake does so as soon as it has come, or when its time for an alignment is
/// over: the chain works off what it holds, past all credit and without further input, the barrier
/// passes it, and goes ahead of what waits in the results. What was overtaken, at the inputs and at
/// the results, is part of the snapshot.
///
/// Lives on the subtask's mailbox.
class stream_task final : public chain_results {
public:
  struct setup {
    std::vector<std::int32_t> channel_inputs; ///< a channel each: the operator input it feeds
    input_gate_limits gate_limits;
    std::vector<std::unique_ptr<result_partition>> partitions; ///< as the vertex's outputs
    bool checkpointing = false;
    std::int64_t buffer_timeout_us = 10'000;
    std::int64_t turn_us = 1'000; ///< a turn ends after about this …
    std::size_t turn_steps = 64;  ///< … or so many steps
    const headrace::clock* time = nullptr;
    task_metrics* metrics = nullptr;
    std::shared_ptr<const task_memory> memory; ///< null: not counted
  };
  /// What a chain may emit past credit for one checkpoint; then it waits for credit after all.
  static constexpr std::size_t overdraft_bytes_max = std::size_t{64} << 20U;

  explicit stream_task(setup with);
  ~stream_task() override;

  /// The chain is made with this task as its `chain_results`.
  void set_chain(std::unique_ptr<operator_chain> chain) { chain_ = std::move(chain); }
  operator_chain& chain() { return *chain_; }
  /// For the step that restores it, which may run on when the task has ended.
  std::shared_ptr<operator_chain> shared_chain() const { return chain_; }

  /// Puts back what an unaligned checkpoint has stored, before anything else comes.
  void restore(in_flight_data in_flight);

  // --- what came
  void enqueue(std::size_t channel, std::vector<graph::stream_element> elements, bool closes,
               std::span<const std::size_t> costs = {});
  void attach(std::size_t partition, std::uint32_t subpartition,
              std::unique_ptr<exchange_channel> consumer, std::uint64_t credit_bytes);
  void add_credit(std::size_t partition, std::uint32_t subpartition, std::uint64_t bytes);
  /// A checkpoint that no channel will tell of: of a source, or when all producers have finished.
  void trigger(const graph::barrier& begin);
  /// What a coordinator tells one of the operators. For a source it waits until those checkpoints
  /// have passed the source that were triggered before it came: the coordinator's part of them was
  /// taken before it spoke, so the source's part must be, too, or a split would be in both.
  /// @errors unknown_operator, and what the operator makes of it
  status on_event(operator_id to, byte_string event);
  status complete_checkpoint(checkpoint_id checkpoint);
  status abort_checkpoint(checkpoint_id checkpoint);
  /// Nothing while the task holds.
  std::optional<std::int64_t> next_processing_time_ms();
  void fire_processing_time(std::int64_t now_ms);

  /// Works for a bounded time. @errors what an operator failed with; memory_exceeded
  result<turn_result> turn();

  // --- what it led to
  /// A snapshot to write and acknowledge: all of it is there.
  std::optional<begun_checkpoint> take_snapshot();
  /// When a barrier overtakes next, by the task's clock; a turn is wanted then.
  std::optional<std::int64_t> next_overtaking_us() const;
  /// Checkpoints that a newer one subsumed here: to be declined.
  std::vector<checkpoint_id> take_subsumed() { return std::exchange(subsumed_, {}); }
  std::vector<input_gate::grant> take_grants() { return gate_.take_grants(); }
  /// The input has ended and all that followed is out; told once.
  bool take_awaiting_checkpoint();
  bool has_ended() const { return ended_; }

  input_gate& gate() { return gate_; }
  std::size_t partition_count() const { return with_.partitions.size(); }
  result_partition& partition(std::size_t index) { return *with_.partitions[index]; }

  // --- of chain_results
  void emit(std::size_t result, graph::record_batch rows) override;
  void broadcast(std::size_t result, const graph::stream_element& element) override;

private:
  enum class step_result : std::uint8_t { worked, idle, blocked, finished };
  struct waiting_event {
    checkpoint_id behind = 0; ///< the newest that was triggered before it came
    operator_id to;
    byte_string event;
  };
  /// A barrier that is about to overtake.
  struct overtaking {
    graph::barrier barrier;
    std::int64_t announced_us = 0;
    std::int64_t deadline_us = 0;
  };
  result<step_result> step(std::int64_t now_us);
  result<step_result> work_on_chain();
  result<step_result> take_input();
  /// @returns whether there was something
  bool take_next();
  void take(input_event event);
  void begin_checkpoint(begun_checkpoint begun);
  /// Gives the source what came before any later checkpoint than this one was triggered.
  status give_events(checkpoint_id passed);
  begun_checkpoint begun_of(const barrier_aligner::alignment& aligned) const;

  // --- unaligned checkpoints
  /// Notes a barrier that has come, if it may overtake.
  void announce(const graph::barrier& split);
  std::int64_t aligned_time_us(const graph::barrier& split) const;
  bool overtakes(std::int64_t now_us) const;
  result<step_result> step_overtaking();
  void overtake();
  void take_recording();
  /// Lets barriers that wait for credit too long go ahead.
  void overtake_in_results(std::int64_t now_us);
  void add_overtaken(begun_checkpoint& to, std::size_t result,
                     std::vector<overtaken_elements> found);

  bool may_trigger() const;
  /// Triggers up to this checkpoint are of no use any more.
  void drop_triggers(checkpoint_id checkpoint);
  step_result finish_or_wait();
  step_result finish();
  step_result wait_blocked();
  bool is_available() const;
  void flush();
  void flush_overdue(std::int64_t now_us);
  status check_memory() const;

  setup with_;
  input_gate gate_;
  std::shared_ptr<operator_chain> chain_;
  std::deque<graph::barrier> triggered_; ///< by rising ids
  std::deque<waiting_event> events_;     ///< for the source
  checkpoint_id newest_ = 0;             ///< begun or aborted here
  std::optional<checkpoint_id> first_after_end_;
  checkpoint_id completed_ = 0;
  std::optional<checkpoint_id> holding_; ///< of the savepoint that ends the job
  std::vector<checkpoint_id> subsumed_;
  begun_checkpoints begun_;
  std::optional<overtaking> due_;
  bool passes_overtaking_ = false; ///< an overtaking barrier is in the chain
  bool is_past_credit_ = false;
  std::size_t overdraft_bytes_ = 0; ///< emitted so
  batch_pacer pacer_;
  std::uint64_t rows_in_before_ = 0; ///< that the chain had taken when it was drained last
  bool source_ended_ = false;
  bool ended_ = false;
  bool awaiting_told_ = false;
  bool closed_ = false;
};

} // namespace headrace::task
