#include "libtask/input/channel_recorder.hpp"

#include "libstate/channel/channel_state.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>
#include <utility>

namespace headrace::task {

channel_recorder::channel_recorder(std::size_t channel_count) : awaited_(channel_count, 0) {}

std::optional<checkpoint_id> channel_recorder::begin(checkpoint_id checkpoint) {
  const auto given_up = recorded();
  is_active_ = true;
  so_far_ = {checkpoint, {}};
  std::fill(awaited_.begin(), awaited_.end(), std::uint8_t{1});
  awaited_count_ = awaited_.size();
  return given_up;
}

void channel_recorder::record(std::size_t channel, const graph::stream_element& element) {
  if (is_awaited(channel) && state::is_kept_in_flight(element))
    so_far_.channels[channel].push_back(element);
}

void channel_recorder::arrived(std::size_t channel) {
  HEADRACE_ASSERT(channel < awaited_.size(), "barrier of an unknown channel");
  if (awaited_[channel] == 0)
    return;
  awaited_[channel] = 0;
  --awaited_count_;
}

void channel_recorder::abort(checkpoint_id checkpoint) {
  if (!is_active_ || so_far_.checkpoint > checkpoint)
    return;
  is_active_ = false;
  so_far_ = {};
  std::fill(awaited_.begin(), awaited_.end(), std::uint8_t{0});
  awaited_count_ = 0;
}

std::optional<checkpoint_id> channel_recorder::recorded() const {
  if (!is_active_)
    return std::nullopt;
  return so_far_.checkpoint;
}

std::optional<channel_recorder::recording> channel_recorder::take() {
  if (!is_active_ || awaited_count_ > 0)
    return std::nullopt;
  is_active_ = false;
  return std::exchange(so_far_, {});
}

} // namespace headrace::task
