#include "libtask/task/stream_task.hpp"

#include <algorithm>
#include <utility>

// How barriers of unaligned checkpoints overtake what is in flight.

namespace headrace::task {

using graph::barrier_alignment;

void stream_task::restore(in_flight_data in_flight) {
  for (auto& [channel, elements] : in_flight.inputs)
    gate_.restore(channel, std::move(elements));
  for (auto& one : in_flight.outputs)
    with_.partitions[one.partition]->restore(one.elements.subpartition,
                                             std::move(one.elements.elements));
  for (const auto& one : in_flight.rescaled_outputs)
    for (const auto& rows : one.rows)
      with_.partitions[one.partition]->restore(rows);
}

std::int64_t stream_task::aligned_time_us(const graph::barrier& split) const {
  if (split.alignment == barrier_alignment::unaligned)
    return 0;
  // From the trigger on; another node's clock may be wrong, but no more than all of it is waited.
  const auto passed_ms = with_.time->wall_ms() - split.timestamp_ms;
  return 1000 * std::clamp<std::int64_t>(split.aligned_timeout_ms - passed_ms, 0,
                                         split.aligned_timeout_ms);
}

void stream_task::announce(const graph::barrier& split) {
  if (!split.may_overtake() || split.checkpoint <= newest_)
    return;
  const auto now_us = with_.time->now_us();
  auto announced_us = now_us;
  if (due_ && due_->barrier.checkpoint >= split.checkpoint) {
    const bool hurries = due_->barrier.checkpoint == split.checkpoint &&
                         due_->barrier.alignment != barrier_alignment::unaligned &&
                         split.alignment == barrier_alignment::unaligned;
    if (!hurries)
      return;
    announced_us = due_->announced_us;
  }
  due_ = overtaking{split, announced_us, now_us + aligned_time_us(split)};
}

std::optional<std::int64_t> stream_task::next_overtaking_us() const {
  std::optional<std::int64_t> next;
  if (due_)
    next = due_->deadline_us;
  for (const auto& one : begun_.all())
    if (one.awaits_outputs && one.deadline_us && (!next || *one.deadline_us < *next))
      next = one.deadline_us;
  return next;
}

bool stream_task::overtakes(std::int64_t now_us) const {
  return !holding_ && (passes_overtaking_ || (due_ && now_us >= due_->deadline_us));
}

result<stream_task::step_result> stream_task::step_overtaking() {
  if (!std::exchange(is_past_credit_, true))
    overdraft_bytes_ = 0;
  if (!chain_->is_drained()) {
    if (!is_available() && overdraft_bytes_ >= overdraft_bytes_max)
      return wait_blocked();
    return work_on_chain();
  }
  if (std::exchange(passes_overtaking_, false))
    return step_result::worked; // the barrier is through
  if (gate_.has_events()) {
    take(*gate_.poll(with_.time->now_us()));
    return step_result::worked;
  }
  HEADRACE_CHECK(give_events(due_->barrier.checkpoint - 1)); // of those that it leaves out
  overtake();
  return step_result::worked;
}

void stream_task::overtake() {
  auto next = *std::exchange(due_, std::nullopt);
  next.barrier.alignment = barrier_alignment::unaligned;
  begun_checkpoint begun;
  begun.barrier = next.barrier;
  begun.first_barrier_us = next.announced_us;
  begun.is_unaligned = true;
  begun.awaits_channels = gate_.channel_count() > 0;
  passes_overtaking_ = true;
  gate_.overtake(next.barrier);
  begin_checkpoint(std::move(begun));
  take_recording();
}

void stream_task::take_recording() {
  auto recording = gate_.take_recording();
  if (!recording)
    return;
  auto* begun = begun_.find(recording->content.checkpoint);
  if (begun == nullptr)
    return;
  begun->in_flight.inputs = std::move(recording->content.channels);
  begun->processed_bytes = recording->processed_bytes;
  begun->alignment_us = with_.time->now_us() - begun->first_barrier_us;
  begun->awaits_channels = false;
}

begun_checkpoint stream_task::begun_of(const barrier_aligner::alignment& aligned) const {
  begun_checkpoint out;
  out.barrier = aligned.barrier;
  out.alignment_us = aligned.duration_us;
  out.processed_bytes = aligned.processed_bytes;
  if (aligned.barrier.may_overtake()) {
    out.deadline_us = with_.time->now_us() + aligned_time_us(aligned.barrier);
    out.awaits_outputs = !with_.partitions.empty();
  }
  return out;
}

void stream_task::overtake_in_results(std::int64_t now_us) {
  for (auto& one : begun_.all()) {
    if (!one.awaits_outputs || !one.deadline_us || now_us < *one.deadline_us)
      continue;
    one.deadline_us.reset();
    auto split = one.barrier;
    split.alignment = barrier_alignment::unaligned;
    for (std::size_t i = 0; i < with_.partitions.size(); ++i) {
      std::vector<overtaken_elements> found;
      with_.partitions[i]->overtake_waiting(split, found);
      one.is_unaligned = one.is_unaligned || !found.empty();
      add_overtaken(one, i, std::move(found));
    }
  }
}

void stream_task::add_overtaken(begun_checkpoint& to, std::size_t result,
                                std::vector<overtaken_elements> found) {
  for (auto& one : found)
    to.in_flight.outputs.push_back({result, std::move(one)});
}

} // namespace headrace::task
