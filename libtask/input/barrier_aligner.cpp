#include "libtask/input/barrier_aligner.hpp"

#include "libactors/base/assert.hpp"

#include <algorithm>

namespace headrace::task {

namespace {
constexpr std::size_t counted_max = 128;
} // namespace

barrier_aligner::barrier_aligner(std::size_t channel_count)
    : arrived_(channel_count, 0), blocked_(channel_count, 0), closed_(channel_count, 0) {}

barrier_aligner::outcome barrier_aligner::on_barrier(std::size_t channel,
                                                     const graph::barrier& arrived,
                                                     std::int64_t now_us) {
  HEADRACE_ASSERT(channel < arrived_.size(), "barrier of an unknown channel");
  outcome out;
  if (arrived.checkpoint <= over_ || closed_[channel] != 0)
    return out;
  if (arrived.alignment == graph::barrier_alignment::at_least_once) {
    count_barrier(channel, arrived, now_us, out);
    return out;
  }
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
  for (auto& one : counted_)
    if (one.arrived[channel] == 0)
      --one.awaited;
  complete_counted(out, now_us);
  return out;
}

void barrier_aligner::count_barrier(std::size_t channel, const graph::barrier& arrived,
                                    std::int64_t now_us, outcome& out) {
  auto at = std::find_if(counted_.begin(), counted_.end(), [&](const count& one) {
    return one.barrier.checkpoint >= arrived.checkpoint;
  });
  if (at == counted_.end() || at->barrier.checkpoint != arrived.checkpoint)
    at = counted_.insert(at, count{arrived, now_us,
                                   std::vector<std::uint8_t>(arrived_.size(), std::uint8_t{0}),
                                   closed_.size() - closed_count_});
  if (at->arrived[channel] == 0) {
    at->arrived[channel] = 1;
    --at->awaited;
  }
  complete_counted(out, now_us);
  if (counted_.size() > counted_max)
    counted_.pop_front(); // nobody waits for so many
}

/// The newest one of which all are there; older ones are over with it.
void barrier_aligner::complete_counted(outcome& out, std::int64_t now_us) {
  const auto newest = std::find_if(counted_.rbegin(), counted_.rend(),
                                   [](const count& one) { return one.awaited == 0; });
  if (newest == counted_.rend())
    return;
  out.aligned = alignment{newest->barrier, now_us - newest->started_us, 0};
  over_ = std::max(over_, newest->barrier.checkpoint);
  forget_counted();
}

void barrier_aligner::forget_counted() {
  while (!counted_.empty() && counted_.front().barrier.checkpoint <= over_)
    counted_.pop_front();
}

barrier_aligner::outcome barrier_aligner::abort(checkpoint_id checkpoint) {
  outcome out;
  if (is_pending_ && current_.checkpoint <= checkpoint)
    end(out);
  over_ = std::max(over_, checkpoint);
  forget_counted();
  return out;
}

std::optional<checkpoint_id> barrier_aligner::pending() const {
  if (is_pending_)
    return current_.checkpoint;
  if (counted_.empty())
    return std::nullopt;
  return counted_.front().barrier.checkpoint;
}

void barrier_aligner::begin(const graph::barrier& first, std::int64_t now_us) {
  is_pending_ = true;
  current_ = first;
  started_us_ = now_us;
  awaited_ = closed_.size() - closed_count_;
}

void barrier_aligner::end(outcome& out) {
  over_ = std::max(over_, current_.checkpoint);
  forget_counted();
  is_pending_ = false;
  out.unblocked = true;
  std::fill(arrived_.begin(), arrived_.end(), std::uint8_t{0});
  std::fill(blocked_.begin(), blocked_.end(), std::uint8_t{0});
}

void barrier_aligner::complete_if_all_there(outcome& out, std::int64_t now_us) {
  if (!is_pending_ || awaited_ > 0)
    return;
  out.aligned = alignment{current_, now_us - started_us_, 0};
  end(out);
}

} // namespace headrace::task
