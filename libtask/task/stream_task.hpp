#pragma once

#include "libtask/input/input_gate.hpp"
#include "libtask/mailbox/task_metrics.hpp"
#include "libtask/network/result_partition.hpp"
#include "libtask/operator/operator_chain.hpp"
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
  explicit stream_task(setup with);
  ~stream_task() override;

  /// The chain is made with this task as its `chain_results`.
  void set_chain(std::unique_ptr<operator_chain> chain) { chain_ = std::move(chain); }
  operator_chain& chain() { return *chain_; }
  /// For the step that restores it, which may run on when the task has ended.
  std::shared_ptr<operator_chain> shared_chain() const { return chain_; }

  // --- what came
  void enqueue(std::size_t channel, std::vector<graph::stream_element> elements, bool closes,
               std::span<const std::size_t> costs = {});
  void attach(std::size_t partition, std::uint32_t subpartition,
              std::unique_ptr<exchange_channel> consumer, std::uint64_t credit_bytes);
  void add_credit(std::size_t partition, std::uint32_t subpartition, std::uint64_t bytes);
  /// A checkpoint that no channel will tell of: of a source, or when all producers have finished.
  void trigger(const graph::barrier& begin);
  status complete_checkpoint(checkpoint_id checkpoint);
  status abort_checkpoint(checkpoint_id checkpoint);
  /// Nothing while the task holds.
  std::optional<std::int64_t> next_processing_time_ms();
  void fire_processing_time(std::int64_t now_ms);

  /// Works for a bounded time. @errors what an operator failed with; memory_exceeded
  result<turn_result> turn();

  // --- what it led to
  /// A snapshot to write and acknowledge.
  struct taken_snapshot {
    operator_chain::finished_snapshot content;
    std::int64_t alignment_us = 0;
    std::shared_ptr<const graph::savepoint_order> savepoint; ///< null: a plain checkpoint
  };
  std::optional<taken_snapshot> take_snapshot();
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
  struct alignment_note {
    graph::barrier barrier;
    std::int64_t duration_us = 0;
  };
  result<step_result> step();
  result<step_result> take_input();
  void take(input_event event);
  void begin_checkpoint(const graph::barrier& barrier, std::int64_t alignment_us);
  bool may_trigger() const;
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
  std::optional<graph::barrier> triggered_;
  checkpoint_id newest_ = 0; ///< begun or aborted here
  std::optional<checkpoint_id> first_after_end_;
  checkpoint_id completed_ = 0;
  std::optional<checkpoint_id> holding_; ///< of the savepoint that ends the job
  std::vector<checkpoint_id> subsumed_;
  std::deque<alignment_note> alignments_;
  bool source_ended_ = false;
  bool ended_ = false;
  bool awaiting_told_ = false;
  bool closed_ = false;
};

} // namespace headrace::task
