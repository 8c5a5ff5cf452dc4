#pragma once

#include "libgraph/data/stream_element.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace headrace::task {

/// Aligns the barriers of a checkpoint over all channels of a subtask.
///
/// Exactly-once: a channel that has delivered its barrier is blocked until the last one has.
/// At-least-once: barriers are only counted, nothing is blocked, so that several checkpoints are
/// counted at a time. A channel that is closed counts as one that delivered. Pure: does no I/O and
/// reads no clock. Lives on the task's mailbox.
///
///     channel 0  ──a──b──|5|······ blocked ······
///     channel 1  ──c─────────d──|5|                ← alignment of 5 ends here
class barrier_aligner {
public:
  explicit barrier_aligner(std::size_t channel_count);

  struct alignment {
    graph::barrier barrier;
    std::int64_t duration_us = 0;      ///< from the first barrier to the last
    std::uint64_t processed_bytes = 0; ///< taken in meanwhile; the input gate's to say
  };
  /// What a step gives: a checkpoint given up because a newer one began, one that is aligned.
  struct outcome {
    std::optional<checkpoint_id> subsumed;
    std::optional<alignment> aligned;
    bool unblocked = false; ///< channels may have become readable
  };

  /// Takes the next barrier off a channel; of a checkpoint that is over or given up it is dropped.
  /// @param now_us  microseconds, from the task's clock
  outcome on_barrier(std::size_t channel, const graph::barrier& arrived, std::int64_t now_us);
  /// The channel's producer has finished: no barrier comes any more.
  outcome on_closed(std::size_t channel, std::int64_t now_us);
  /// The coordinator gave the checkpoint up, or it has become an unaligned one: its barriers are
  /// dropped from now on.
  outcome abort(checkpoint_id checkpoint);

  bool is_blocked(std::size_t channel) const { return blocked_[channel] != 0; }
  /// Whether the channel has delivered its barrier of the pending checkpoint.
  bool has_arrived(std::size_t channel) const { return arrived_[channel] != 0; }
  bool is_closed(std::size_t channel) const { return closed_[channel] != 0; }
  /// Barriers of this checkpoint and of older ones are dropped.
  checkpoint_id over() const { return over_; }
  /// The checkpoint that is being aligned, or the oldest that is counted.
  std::optional<checkpoint_id> pending() const;
  bool all_closed() const { return closed_count_ == closed_.size(); }

private:
  /// A checkpoint whose barriers are only counted.
  struct count {
    graph::barrier barrier;
    std::int64_t started_us = 0;
    std::vector<std::uint8_t> arrived;
    std::size_t awaited = 0;
  };
  void count_barrier(std::size_t channel, const graph::barrier& arrived, std::int64_t now_us,
                     outcome& out);
  void complete_counted(outcome& out, std::int64_t now_us);
  void forget_counted();
  void begin(const graph::barrier& first, std::int64_t now_us);
  /// Ends the pending alignment, for whatever reason.
  void end(outcome& out);
  void complete_if_all_there(outcome& out, std::int64_t now_us);

  std::vector<std::uint8_t> arrived_;
  std::vector<std::uint8_t> blocked_;
  std::vector<std::uint8_t> closed_;
  std::size_t awaited_ = 0; ///< open channels whose barrier is missing
  std::size_t closed_count_ = 0;
  bool is_pending_ = false;
  graph::barrier current_;
  std::int64_t started_us_ = 0;
  std::deque<count> counted_; ///< by rising ids
  checkpoint_id over_ = 0;    ///< this and smaller ones are done or given up
};

} // namespace headrace::task
