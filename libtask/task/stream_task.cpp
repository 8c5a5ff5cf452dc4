#include "libtask/task/stream_task.hpp"

#include <algorithm>
#include <utility>

namespace headrace::task {
namespace {

/// What a task does until its next turn.
task_phase phase_after(turn_result turn) {
  switch (turn) {
  case turn_result::again:
    return task_phase::busy; // it only waits for a thread
  case turn_result::blocked:
    return task_phase::back_pressured;
  default:
    return task_phase::idle;
  }
}

} // namespace

stream_task::stream_task(setup with)
    : with_(std::move(with)), gate_(with_.channel_inputs, with_.gate_limits) {
  with_.metrics->watermark_ms.set(graph::watermark::none);
  with_.metrics->times.enter(task_phase::idle, with_.time->now_us());
}

stream_task::~stream_task() = default;

void stream_task::enqueue(std::size_t channel, std::vector<graph::stream_element> elements,
                          bool closes, std::span<const std::size_t> costs) {
  const auto before = gate_.queued_bytes();
  gate_.enqueue(channel, std::move(elements), closes, costs);
  with_.metrics->bytes_in.add(gate_.queued_bytes() - before);
}

void stream_task::attach(std::size_t partition, std::uint32_t subpartition,
                         std::unique_ptr<exchange_channel> consumer, std::uint64_t credit_bytes) {
  with_.partitions[partition]->attach(subpartition, std::move(consumer), credit_bytes);
}

void stream_task::add_credit(std::size_t partition, std::uint32_t subpartition,
                             std::uint64_t bytes) {
  with_.partitions[partition]->add_credit(subpartition, bytes);
}

void stream_task::trigger(const graph::barrier& begin) {
  if (begin.checkpoint <= newest_)
    return;
  if (triggered_ && triggered_->checkpoint < begin.checkpoint)
    subsumed_.push_back(triggered_->checkpoint);
  triggered_ = begin;
}

status stream_task::complete_checkpoint(checkpoint_id checkpoint) {
  completed_ = std::max(completed_, checkpoint);
  return chain_->notify_completed(checkpoint);
}

status stream_task::abort_checkpoint(checkpoint_id checkpoint) {
  if (triggered_ && triggered_->checkpoint <= checkpoint)
    triggered_.reset();
  if (holding_ && *holding_ <= checkpoint)
    holding_.reset();
  gate_.abort_checkpoint(checkpoint);
  newest_ = std::max(newest_, checkpoint);
  return chain_->notify_aborted(checkpoint);
}

std::optional<std::int64_t> stream_task::next_processing_time_ms() {
  return holding_ ? std::nullopt : chain_->next_processing_time_ms();
}

void stream_task::fire_processing_time(std::int64_t now_ms) {
  if (!holding_)
    chain_->fire_processing_time(now_ms);
}

result<turn_result> stream_task::turn() {
  const auto started_us = with_.time->now_us();
  with_.metrics->times.enter(task_phase::busy, started_us);
  auto out = turn_result::again;
  auto now_us = started_us;
  for (std::size_t steps = 0; steps < with_.turn_steps && now_us - started_us < with_.turn_us;
       ++steps) {
    HEADRACE_TRY(const auto did, step());
    HEADRACE_CHECK(check_memory());
    now_us = with_.time->now_us();
    if (did == step_result::worked)
      continue;
    out = did == step_result::idle      ? turn_result::idle
          : did == step_result::blocked ? turn_result::blocked
                                        : turn_result::finished;
    break;
  }
  if (out == turn_result::again)
    flush_overdue(now_us);
  with_.metrics->times.enter(phase_after(out), now_us);
  return out;
}

result<stream_task::step_result> stream_task::step() {
  if (!is_available())
    return wait_blocked();
  if (!chain_->is_drained()) {
    if (chain_->is_blocked())
      return wait_blocked();
    HEADRACE_CHECK(chain_->step({}));
    return step_result::worked;
  }
  if (holding_) {
    flush();
    return completed_ < *holding_ ? step_result::idle : finish();
  }
  chain_->set_output_available(true);
  if (may_trigger()) {
    const bool drains = triggered_->savepoint != nullptr &&
                        triggered_->savepoint->stop == graph::savepoint_stop::drain;
    if (drains && chain_->has_source() && !std::exchange(source_ended_, true)) {
      chain_->end_source();
      return step_result::worked;
    }
    begin_checkpoint(*std::exchange(triggered_, std::nullopt), 0);
    return step_result::worked;
  }
  return take_input();
}

stream_task::step_result stream_task::wait_blocked() {
  chain_->set_output_available(false);
  flush();
  return step_result::blocked;
}

bool stream_task::may_trigger() const {
  // Behind what the closed channels gave last: their watermark and end are part of the checkpoint.
  return triggered_ && (chain_->has_source() || (gate_.all_closed() && !gate_.has_input()));
}

result<stream_task::step_result> stream_task::take_input() {
  if (chain_->has_source()) {
    const auto readiness = source_ended_ ? source_readiness::waiting : chain_->readiness();
    if (readiness != source_readiness::waiting) {
      source_ended_ = readiness == source_readiness::finished;
      chain_->poll_source();
      return step_result::worked;
    }
  } else if (auto event = gate_.poll(with_.time->now_us())) {
    take(std::move(*event));
    return step_result::worked;
  }
  flush();
  if (!chain_->has_ended())
    return step_result::idle;
  ended_ = true;
  return finish_or_wait();
}

void stream_task::take(input_event event) {
  if (auto* batch = std::get_if<input_batch>(&event)) {
    if (!batch->rows.is_empty())
      chain_->add(batch->input, std::move(batch->rows));
  } else if (const auto* mark = std::get_if<graph::watermark>(&event)) {
    with_.metrics->watermark_ms.set(mark->time_ms);
    chain_->add(*mark);
  } else if (const auto* state = std::get_if<graph::watermark_status>(&event)) {
    chain_->add(*state);
  } else if (const auto* aligned = std::get_if<barrier_aligner::alignment>(&event)) {
    begin_checkpoint(aligned->barrier, aligned->duration_us);
  } else if (const auto* subsumed = std::get_if<checkpoint_id>(&event)) {
    subsumed_.push_back(*subsumed);
  } else if (const auto* ended = std::get_if<input_ended>(&event)) {
    chain_->end_input(ended->input);
  } else if (const auto* marker = std::get_if<graph::latency_marker>(&event)) {
    chain_->add(*marker);
  }
}

void stream_task::begin_checkpoint(const graph::barrier& barrier, std::int64_t alignment_us) {
  if (barrier.checkpoint <= newest_)
    return;
  newest_ = barrier.checkpoint;
  if (triggered_ && triggered_->checkpoint <= newest_)
    triggered_.reset();
  if (chain_->has_ended() && !first_after_end_)
    first_after_end_ = barrier.checkpoint;
  if (barrier.savepoint != nullptr && barrier.savepoint->stop != graph::savepoint_stop::none)
    holding_ = barrier.checkpoint;
  alignments_.push_back({barrier, alignment_us});
  chain_->add(barrier);
}

stream_task::step_result stream_task::finish_or_wait() {
  if (with_.checkpointing && (!first_after_end_ || completed_ < *first_after_end_))
    return step_result::idle;
  return finish();
}

stream_task::step_result stream_task::finish() {
  if (chain_->has_unfinished_work())
    return step_result::idle;
  if (!std::exchange(closed_, true))
    for (auto& one : with_.partitions)
      one->close();
  const auto drained = std::all_of(with_.partitions.begin(), with_.partitions.end(),
                                   [](const auto& one) { return one->is_drained(); });
  return drained ? step_result::finished : step_result::blocked;
}

std::optional<stream_task::taken_snapshot> stream_task::take_snapshot() {
  auto ready = chain_->take_snapshot();
  if (!ready)
    return std::nullopt;
  taken_snapshot out{std::move(*ready), 0, nullptr};
  const auto checkpoint = out.content.content->checkpoint();
  while (!alignments_.empty() && alignments_.front().barrier.checkpoint <= checkpoint) {
    auto& noted = alignments_.front();
    if (noted.barrier.checkpoint == checkpoint) {
      out.alignment_us = noted.duration_us;
      out.savepoint = std::move(noted.barrier.savepoint);
    }
    alignments_.pop_front();
  }
  return out;
}

bool stream_task::take_awaiting_checkpoint() {
  if (!ended_ || !with_.checkpointing || awaiting_told_)
    return false;
  awaiting_told_ = true;
  return true;
}

void stream_task::emit(std::size_t result, graph::record_batch rows) {
  auto& to = *with_.partitions[result];
  const auto before = to.bytes_out();
  to.emit(rows, with_.time->now_us());
  with_.metrics->bytes_out.add(to.bytes_out() - before);
}

void stream_task::broadcast(std::size_t result, const graph::stream_element& element) {
  with_.partitions[result]->broadcast(element);
}

bool stream_task::is_available() const {
  return std::all_of(with_.partitions.begin(), with_.partitions.end(),
                     [](const auto& one) { return one->is_available(); });
}

void stream_task::flush() {
  for (auto& one : with_.partitions)
    one->flush();
}

void stream_task::flush_overdue(std::int64_t now_us) {
  for (auto& one : with_.partitions) {
    const auto since = one->pending_since_us();
    if (since && now_us - *since >= with_.buffer_timeout_us)
      one->flush();
  }
}

status stream_task::check_memory() const {
  if (with_.memory == nullptr || !with_.memory->slot().is_exceeded())
    return {};
  const auto& slot = with_.memory->slot();
  return error(errc::memory_exceeded,
               "slot memory exceeded; raise taskmanager.memory.managed.size, or the parallelism: "
               "task holds " +
                   std::to_string(with_.memory->used_bytes()) + " bytes, its slot " +
                   std::to_string(slot.used_bytes()) + " of " + std::to_string(slot.limit_bytes()));
}

} // namespace headrace::task
