#include "libtask/input/watermark_valve.hpp"

#include "libactors/base/assert.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace headrace::task {
namespace {
constexpr std::int64_t out_of_play = std::numeric_limits<std::int64_t>::max();
}

watermark_valve::watermark_valve(std::size_t channel_count)
    : channels_(channel_count), leaves_(std::bit_ceil(std::max<std::size_t>(channel_count, 1))),
      active_(channel_count) {
  smallest_.assign(leaves_ * 2, out_of_play);
  for (std::size_t i = 0; i < channel_count; ++i)
    set_leaf(i, graph::watermark::none);
}

watermark_valve::update watermark_valve::on_watermark(std::size_t channel,
                                                      graph::watermark arrived) {
  HEADRACE_ASSERT(channel < channels_.size(), "watermark of an unknown channel");
  auto& from = channels_[channel];
  if (from.ended)
    return {};
  if (arrived.time_ms == graph::watermark::end)
    return on_ended(channel);
  const bool woke = from.idle;
  if (woke) {
    from.idle = false;
    ++active_;
  }
  if (arrived.time_ms <= from.time_ms && !woke)
    return {};
  from.time_ms = std::max(from.time_ms, arrived.time_ms);
  from.aligned = from.time_ms >= given_;
  return settle(channel);
}

watermark_valve::update watermark_valve::on_status(std::size_t channel,
                                                   graph::watermark_status arrived) {
  HEADRACE_ASSERT(channel < channels_.size(), "watermark status of an unknown channel");
  auto& from = channels_[channel];
  if (from.ended || from.idle == arrived.idle)
    return {};
  from.idle = arrived.idle;
  if (arrived.idle) {
    --active_;
    from.aligned = false;
  } else {
    ++active_;
    from.aligned = from.time_ms >= given_;
  }
  return settle(channel);
}

watermark_valve::update watermark_valve::on_ended(std::size_t channel) {
  HEADRACE_ASSERT(channel < channels_.size(), "end of an unknown channel");
  auto& from = channels_[channel];
  if (from.ended)
    return {};
  from.ended = true;
  ++ended_;
  if (!from.idle)
    --active_;
  return settle(channel);
}

watermark_valve::update watermark_valve::settle(std::size_t changed) {
  const auto& from = channels_[changed];
  const bool counts = !from.ended && !from.idle && from.aligned;
  set_leaf(changed, counts ? from.time_ms : out_of_play);

  update out;
  std::int64_t reached = smallest_[1];
  if (ended_ == channels_.size()) {
    reached = graph::watermark::end;
  } else if (active_ == 0) {
    // Nobody holds the others back now: what the furthest idle channel had seen is safe to give.
    reached = graph::watermark::none;
    for (const auto& one : channels_)
      if (!one.ended)
        reached = std::max(reached, one.time_ms);
  } else if (reached == out_of_play) {
    reached = given_; // all active channels are still behind
  }
  if (reached > given_) {
    given_ = reached;
    out.advanced = graph::watermark{reached};
  }
  const bool idle = active_ == 0 && ended_ < channels_.size();
  if (idle != idle_given_) {
    idle_given_ = idle;
    out.status = graph::watermark_status{idle};
  }
  return out;
}

void watermark_valve::set_leaf(std::size_t index, std::int64_t value) {
  auto at = leaves_ + index;
  smallest_[at] = value;
  for (at /= 2; at >= 1; at /= 2)
    smallest_[at] = std::min(smallest_[at * 2], smallest_[at * 2 + 1]);
}

} // namespace headrace::task
