#pragma once

#include "libgraph/data/stream_element.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace headrace::task {

/// Combines the watermarks of the channels of one subtask: the smallest over all channels that are
/// neither idle, nor behind after having been idle, nor ended.
///
/// A channel that comes back from idleness counts again once it has reached what was given out, so
/// the combined watermark never goes back. A watermark of `watermark::end` ends its channel: it
/// holds nothing back, and does not speak for idle channels. Pure. A change costs the logarithm of
/// the number of channels. Lives on the task's mailbox.
class watermark_valve {
public:
  explicit watermark_valve(std::size_t channel_count);

  /// What a change gives, in this order.
  struct update {
    std::optional<graph::watermark> advanced;
    std::optional<graph::watermark_status> status;
  };
  /// A watermark that does not rise on its channel changes nothing; one on an idle channel makes it
  /// active.
  update on_watermark(std::size_t channel, graph::watermark arrived);
  update on_status(std::size_t channel, graph::watermark_status arrived);
  /// The channel gives nothing any more: as a watermark of `watermark::end`.
  update on_ended(std::size_t channel);

  std::int64_t current_ms() const { return given_; }
  bool is_idle() const { return idle_given_; }

private:
  struct channel_state {
    std::int64_t time_ms = graph::watermark::none;
    bool idle = false;
    bool aligned = true;
    bool ended = false;
  };
  /// Puts the channel's weight into the tree, and says what that changes.
  update settle(std::size_t changed);
  void set_leaf(std::size_t index, std::int64_t value);

  std::vector<channel_state> channels_;
  std::vector<std::int64_t> smallest_; ///< a tournament tree: smallest_[1] is the minimum
  std::size_t leaves_ = 1;
  std::size_t active_ = 0;
  std::size_t ended_ = 0;
  std::int64_t given_ = graph::watermark::none;
  bool idle_given_ = false;
};

} // namespace headrace::task
