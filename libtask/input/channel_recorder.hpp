#pragma once

#include "libgraph/data/stream_element.hpp"
#include "libactors/base/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace headrace::task {

/// Keeps what an unaligned checkpoint finds in flight on the channels of a subtask: what waits
/// there when the subtask takes its snapshot, and what comes after that in front of a channel's
/// barrier.
///
///     channel 0  ──a──b──|5|──c──          a and b waited
///     channel 1  ──d──────·······e──|5|    d waited, e came later
///                         ▲ snapshot
///
/// Elements are shared, not copied. Pure: does no I/O and reads no clock. Lives on the task's
/// mailbox.
class channel_recorder {
public:
  explicit channel_recorder(std::size_t channel_count);

  struct recording {
    checkpoint_id checkpoint = 0;
    std::map<std::size_t, std::vector<graph::stream_element>> channels; ///< those with something
  };

  /// The snapshot is taken: every channel's barrier is awaited. @returns an older checkpoint whose
  /// recording is given up for this one
  std::optional<checkpoint_id> begin(checkpoint_id checkpoint);
  bool is_awaited(std::size_t channel) const { return awaited_[channel] != 0; }
  /// An element in front of the channel's barrier; nothing happens behind it. What a restart gives
  /// anew is left out.
  void record(std::size_t channel, const graph::stream_element& element);
  /// The channel's barrier has come, or none will: its producer has finished.
  void arrived(std::size_t channel);
  void abort(checkpoint_id checkpoint);

  /// The checkpoint that is recorded.
  std::optional<checkpoint_id> recorded() const;
  /// What was recorded, once all barriers have come; told once.
  std::optional<recording> take();

private:
  std::vector<std::uint8_t> awaited_;
  std::size_t awaited_count_ = 0;
  bool is_active_ = false;
  recording so_far_;
};

} // namespace headrace::task
