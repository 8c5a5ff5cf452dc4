#pragma once

#include "libtask/input/barrier_aligner.hpp"
#include "libtask/input/channel_recorder.hpp"
#include "libtask/input/watermark_valve.hpp"
#include "libgraph/data/stream_element.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <list>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace headrace::task {

/// The next thing that a subtask takes from its input.
struct input_batch {
  std::int32_t input = 0;
  graph::record_batch rows;
};
struct input_ended {
  std::int32_t input = 0; ///< all channels of this input gave their end of input
};
using input_event =
    std::variant<input_batch, graph::watermark, graph::watermark_status, barrier_aligner::alignment,
                 checkpoint_id /* subsumed */, input_ended, graph::latency_marker>;

struct input_gate_limits {
  /// For a gate of so many channels, whose windows share a bounded memory.
  static input_gate_limits for_channels(std::size_t channels);

  std::size_t window_bytes = std::size_t{1} << 20U;      ///< credit of each channel, at first …
  std::size_t window_bytes_most = std::size_t{1} << 20U; ///< … and once it has grown
  std::size_t rows_target = 4096;                        ///< small pieces are joined up to this
  std::size_t bytes_target = std::size_t{1} << 20U;
  std::size_t useless_looks = 16; ///< at channels that have nothing to join, a batch
};

/// The channels of all gates of one subtask: a queue each, with alignment of barriers, combination
/// of watermarks, and credit for what was taken out.
///
/// Channels that may be read take turns. Small pieces, of one channel or of several, are joined
/// into one batch before the operator sees them; a piece of the size of a batch is passed as it is.
///
/// What is in flight on a channel is bounded by its window. A channel from another process whose
/// queue runs empty before new credit can have any effect has its window doubled, up to a limit;
/// where the queue stays long the window shrinks again, so that barriers do not wait behind more
/// than is needed to keep the operator busy.
///
/// A barrier that may overtake is announced as soon as it has come, however much waits before it.
/// `overtake` makes the checkpoint an unaligned one: what waits before its barriers is recorded,
/// and so is what still comes before those that have not come. What a restart brings back goes
/// before anything new. Pure. Lives on the task's mailbox.
class input_gate {
public:
  /// @param inputs  for each channel (over all gates, in order) the operator input that it feeds
  explicit input_gate(std::vector<std::int32_t> inputs, input_gate_limits limits = {});

  /// Puts what came over a channel behind what waits there.
  ///
  /// @param costs  of each element at its producer; empty: `exchange_cost` says it here too
  void enqueue(std::size_t channel, std::vector<graph::stream_element> elements, bool closes,
               std::span<const std::size_t> costs = {});
  /// Takes the next thing; nothing when no channel may be read or all are empty.
  std::optional<input_event> poll(std::int64_t now_us);
  /// Whether `poll` would give something (a barrier that is dropped counts).
  bool has_input() const { return !events_.empty() || !ready_.empty(); }
  /// Whether something that was taken out is to be polled before anything else.
  bool has_events() const { return !events_.empty(); }
  /// How many rows the next batches may have.
  void set_rows_max(std::size_t rows) { rows_max_ = rows; }
  void abort_checkpoint(checkpoint_id checkpoint);

  // --- unaligned checkpoints
  /// The newest barrier that has come, may overtake, and is not through.
  const std::optional<graph::barrier>& announced() const { return announced_; }
  /// The subtask takes the snapshot of this checkpoint, now; without events left.
  void overtake(const graph::barrier& split);
  struct recording {
    channel_recorder::recording content;
    std::uint64_t processed_bytes = 0; ///< taken in since `overtake`
  };
  /// What the overtaking barriers found in flight, once all have come; told once.
  std::optional<recording> take_recording();
  /// Puts back what a checkpoint has stored of a channel. Before anything comes over any channel;
  /// it takes no credit.
  void restore(std::size_t channel, std::vector<graph::stream_element> elements);

  struct grant {
    std::uint32_t channel = 0;
    std::uint64_t bytes = 0;
  };
  /// Credit to send to producers: given once half a window was taken out of a channel.
  std::vector<grant> take_grants() { return std::exchange(grants_, {}); }
  bool has_grants() const { return !grants_.empty(); }

  std::size_t channel_count() const { return channels_.size(); }
  std::size_t window_bytes() const { return limits_.window_bytes; }
  bool all_ended() const { return ended_channels_ == channels_.size(); }
  bool all_closed() const { return aligner_.all_closed(); }
  const watermark_valve& valve() const { return valve_; }
  std::optional<checkpoint_id> pending_alignment() const { return aligner_.pending(); }
  std::size_t queued_bytes() const { return queued_bytes_; }
  /// Of one channel, now.
  std::size_t window_bytes(std::size_t index) const { return channels_[index].window_bytes; }

private:
  struct queued {
    graph::stream_element element;
    std::size_t cost = 0;
    std::size_t taken_rows = 0; ///< of a batch: these are out already
    bool is_restored = false;
  };
  struct channel {
    std::list<queued> queue; ///< most are empty: takes nothing then
    std::int32_t input = 0;
    std::uint64_t taken_bytes = 0; ///< not yet given back as credit
    std::size_t queued_bytes = 0;
    std::size_t window_bytes = 0;
    bool is_remote = false; ///< credit takes its time
    bool is_ready = false;  ///< stands in ready_
    bool closing = false;   ///< closed once the queue is empty
    bool ended = false;
  };
  struct join_progress {
    std::size_t rows = 0;
    std::size_t bytes = 0;
    bool has_times = false;
  };
  void make_ready(std::size_t index);
  void make_all_ready();
  /// Whether the channel must wait until all that was restored is taken.
  bool waits_for_restored(const channel& one) const {
    return restored_left_ > 0 && (one.queue.empty() || !one.queue.front().is_restored);
  }
  void announce(std::size_t index, const graph::barrier& split);
  void drop_barriers(checkpoint_id checkpoint);
  void record_waiting(std::size_t index, checkpoint_id checkpoint);
  graph::stream_element take_front(std::size_t index);
  /// The rows of the front batch, or the first of them when they are too many.
  graph::record_batch take_rows(std::size_t index);
  void give_back(std::size_t index, std::size_t cost);
  std::size_t rows_target() const { return std::min(limits_.rows_target, rows_max_); }
  void grant_credit(std::size_t index);
  void take_turn(std::int64_t now_us);
  void take_batch(std::size_t index);
  /// Joins `first` with small batches at the fronts of ready channels.
  graph::record_batch coalesce(graph::record_batch first, std::int32_t input, std::size_t from);
  void join_small(std::size_t index, join_progress& so_far);
  void join_others(std::int32_t input, join_progress& so_far);
  bool is_full(const join_progress& so_far) const {
    return so_far.rows >= rows_target() || so_far.bytes >= limits_.bytes_target;
  }
  void take_control(std::size_t index, graph::stream_element element, std::int64_t now_us);
  void end_channel(std::size_t index);
  void after_take(std::size_t index, std::int64_t now_us);
  void apply(const watermark_valve::update& change);
  void apply(const barrier_aligner::outcome& change);

  std::vector<channel> channels_;
  input_gate_limits limits_;
  watermark_valve valve_;
  barrier_aligner aligner_;
  channel_recorder recorder_;
  std::optional<graph::barrier> announced_;
  std::deque<std::size_t> ready_;
  std::deque<input_event> events_;
  std::vector<grant> grants_;
  std::vector<std::size_t> open_by_input_;
  std::vector<graph::record_batch> joining_; ///< reused
  std::size_t ended_channels_ = 0;
  std::size_t queued_bytes_ = 0;
  std::size_t rows_max_ = std::numeric_limits<std::size_t>::max();
  std::size_t restored_left_ = 0;    ///< elements
  std::uint64_t taken_bytes_ = 0;    ///< of all channels, ever
  std::uint64_t processed_from_ = 0; ///< taken_bytes_ when the pending alignment began …
  std::uint64_t overtaken_from_ = 0; ///< … and when the recorded checkpoint overtook
};

} // namespace headrace::task
