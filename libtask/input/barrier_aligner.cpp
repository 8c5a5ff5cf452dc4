#include "libtask/input/barrier_aligner.hpp"

#include "libactors/base/assert.hpp"

#include <algorithm>

namespace headrace::task {

barrier_aligner::barrier_aligner(std::size_t channel_count)
    : arrived_(channel_count, 0), blocked_(channel_count, 0), closed_(channel_count, 0) {}

barrier_aligner::outcome barrier_aligner::on_barrier(std::size_t channel,
                                                     const graph::barrier& arrived,
                                                     std::int64_t now_us) {
  HEADRACE_ASSERT(channel < arrived_.size(), "barrier of an unknown channel");
  outcome out;
  if (arrived.checkpoint <= over_ || closed_[channel] != 0)
    return out;
  if (is_pending_ && arrived.checkpoint < current_.checkpoint)
    return out;
  if (is_pending_ && arrived.checkpoint > current_.checkpoint) {
    out.subsumed = current_.checkpoint;
    end(out);
  }
  if (!is_pending_)
    begin(arrived, now_us);
  if (arrived_[channel] == 0) {
    arrived_[channel] = 1;
    --awaited_;
    if (current_.alignment == graph::barrier_alignment::exactly_once)
      blocked_[channel] = 1;
  }
  complete_if_all_there(out, now_us);
  return out;
}

barrier_aligner::outcome barrier_aligner::on_closed(std::size_t channel, std::int64_t now_us) {
  HEADRACE_ASSERT(channel < arrived_.size(), "end of an unknown channel");
  outcome out;
  if (closed_[channel] != 0)
    return out;
  closed_[channel] = 1;
  ++closed_count_;
  if (is_pending_ && arrived_[channel] == 0) {
    --awaited_;
    complete_if_all_there(out, now_us);
  }
  return out;
}

barrier_aligner::outcome barrier_aligner::abort(checkpoint_id checkpoint) {
  outcome out;
  if (is_pending_ && current_.checkpoint <= checkpoint)
    end(out);
  over_ = std::max(over_, checkpoint);
  return out;
}

std::optional<checkpoint_id> barrier_aligner::pending() const {
  if (!is_pending_)
    return std::nullopt;
  return current_.checkpoint;
}

void barrier_aligner::begin(const graph::barrier& first, std::int64_t now_us) {
  is_pending_ = true;
  current_ = first;
  started_us_ = now_us;
  awaited_ = closed_.size() - closed_count_;
}

void barrier_aligner::end(outcome& out) {
  over_ = std::max(over_, current_.checkpoint);
  is_pending_ = false;
  out.unblocked = true;
  std::fill(arrived_.begin(), arrived_.end(), std::uint8_t{0});
  std::fill(blocked_.begin(), blocked_.end(), std::uint8_t{0});
}

void barrier_aligner::complete_if_all_there(outcome& out, std::int64_t now_us) {
  if (!is_pending_ || awaited_ > 0)
    return;
  out.aligned = alignment{current_, now_us - started_us_};
  end(out);
}

} // namespace headrace::task
