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
  if (gate_.announced())
    announce(*gate_.announced());
  take_recording();
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
  if (begin.checkpoint <= newest_ ||
      (!triggered_.empty() && triggered_.back().checkpoint >= begin.checkpoint))
    return;
  triggered_.push_back(begin);
  announce(begin);
}

status stream_task::on_event(operator_id to, byte_string event) {
  if (!chain_->is_source(to))
    return chain_->on_event(to, event);
  const auto newest = triggered_.empty() ? newest_ : triggered_.back().checkpoint;
  events_.push_back({newest, to, std::move(event)});
  return give_events(newest_);
}

status stream_task::give_events(checkpoint_id passed) {
  while (!events_.empty() && events_.front().behind <= passed && !chain_->has_barrier_at_source()) {
    const auto next = std::move(events_.front());
    events_.pop_front();
    HEADRACE_CHECK(chain_->on_event(next.to, next.event));
  }
  return {};
}

status stream_task::complete_checkpoint(checkpoint_id checkpoint) {
  completed_ = std::max(completed_, checkpoint);
  return chain_->notify_completed(checkpoint);
}

status stream_task::abort_checkpoint(checkpoint_id checkpoint) {
  drop_triggers(checkpoint);
  if (holding_ && *holding_ <= checkpoint)
    holding_.reset();
  if (due_ && due_->barrier.checkpoint <= checkpoint)
    due_.reset();
  begun_.abort(checkpoint);
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
  overtake_in_results(now_us);
  if (!holding_)
    chain_->take_due();
  for (std::size_t steps = 0; steps < with_.turn_steps && now_us - started_us < with_.turn_us;
       ++steps) {
    const auto before_us = now_us;
    HEADRACE_TRY(const auto did, step(now_us));
    HEADRACE_CHECK(check_memory());
    now_us = with_.time->now_us();
    pacer_.spent(now_us - before_us);
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

result<stream_task::step_result> stream_task::step(std::int64_t now_us) {
  HEADRACE_CHECK(give_events(newest_));
  if (overtakes(now_us))
    return step_overtaking();
  is_past_credit_ = false;
  if (!is_available())
    return wait_blocked();
  if (!chain_->is_drained())
    return work_on_chain();
  const auto rows_in = with_.metrics->records_in.value();
  pacer_.done(static_cast<std::size_t>(rows_in - std::exchange(rows_in_before_, rows_in)));
  if (holding_) {
    flush();
    return completed_ < *holding_ ? step_result::idle : finish();
  }
  chain_->set_output_available(true);
  if (may_trigger()) {
    const auto next = triggered_.front();
    const bool drains =
        next.savepoint != nullptr && next.savepoint->stop == graph::savepoint_stop::drain;
    if (drains && chain_->has_source() && !std::exchange(source_ended_, true)) {
      chain_->end_source();
      return step_result::worked;
    }
    begin_checkpoint(begun_of({next, 0, 0}));
    return step_result::worked;
  }
  return take_input();
}

result<stream_task::step_result> stream_task::work_on_chain() {
  if (chain_->is_blocked())
    return wait_blocked();
  drain_budget budget;
  budget.rows_max = std::min(budget.rows_max, pacer_.rows_max());
  HEADRACE_CHECK(chain_->step(budget));
  return step_result::worked;
}

stream_task::step_result stream_task::wait_blocked() {
  chain_->set_output_available(false);
  flush();
  return step_result::blocked;
}

bool stream_task::may_trigger() const {
  // Behind what the closed channels gave last: their watermark and end are part of the checkpoint.
  return !triggered_.empty() &&
         (chain_->has_source() || (gate_.all_closed() && !gate_.has_input()));
}

void stream_task::drop_triggers(checkpoint_id checkpoint) {
  while (!triggered_.empty() && triggered_.front().checkpoint <= checkpoint)
    triggered_.pop_front();
}

result<stream_task::step_result> stream_task::take_input() {
  // What cannot be taken is better off at the inputs, where a barrier may overtake it.
  if (!chain_->takes_rows() && !chain_->has_ended())
    return wait_blocked();
  if (take_next() || may_trigger()) // the look at the inputs may have closed the last channel
    return step_result::worked;
  flush();
  if (!chain_->has_ended())
    return step_result::idle;
  ended_ = true;
  return finish_or_wait();
}

bool stream_task::take_next() {
  const auto rows_max = std::min(pacer_.rows_max(), chain_->rows_wanted());
  if (!chain_->has_source()) {
    gate_.set_rows_max(rows_max);
    auto event = gate_.poll(with_.time->now_us());
    if (event)
      take(*std::move(event));
    return event.has_value();
  }
  chain_->set_rows_max(rows_max);
  const auto readiness = source_ended_ ? source_readiness::waiting : chain_->readiness();
  if (readiness == source_readiness::waiting)
    return false;
  source_ended_ = readiness == source_readiness::finished;
  chain_->poll_source();
  return true;
}

void stream_task::take(input_event event) {
  if (auto* batch = std::get_if<input_batch>(&event)) {
    if (!batch->rows.is_empty())
      chain_->add(batch->input, std::move(batch->rows));
  } else if (const auto* mark = std::get_if<graph::watermark>(&event)) {
    chain_->add(*mark);
  } else if (const auto* state = std::get_if<graph::watermark_status>(&event)) {
    chain_->add(*state);
  } else if (const auto* aligned = std::get_if<barrier_aligner::alignment>(&event)) {
    begin_checkpoint(begun_of(*aligned));
  } else if (const auto* subsumed = std::get_if<checkpoint_id>(&event)) {
    subsumed_.push_back(*subsumed);
    begun_.abort(*subsumed);
  } else if (const auto* ended = std::get_if<input_ended>(&event)) {
    chain_->end_input(ended->input);
  } else if (const auto* marker = std::get_if<graph::latency_marker>(&event)) {
    chain_->add(*marker);
  }
}

void stream_task::begin_checkpoint(begun_checkpoint begun) {
  const auto& barrier = begun.barrier;
  if (barrier.checkpoint <= newest_)
    return;
  newest_ = barrier.checkpoint;
  drop_triggers(newest_);
  if (due_ && due_->barrier.checkpoint <= newest_)
    due_.reset();
  if (chain_->has_ended() && !first_after_end_)
    first_after_end_ = barrier.checkpoint;
  if (barrier.savepoint != nullptr && barrier.savepoint->stop != graph::savepoint_stop::none)
    holding_ = barrier.checkpoint;
  chain_->add(begun_.begin(std::move(begun)).barrier);
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

std::optional<begun_checkpoint> stream_task::take_snapshot() {
  while (auto ready = chain_->take_snapshot())
    begun_.add(std::move(*ready));
  for (auto& one : begun_.all())
    one.awaits_outputs =
        one.awaits_outputs &&
        std::any_of(with_.partitions.begin(), with_.partitions.end(), [&](const auto& partition) {
          return partition->has_waiting_barrier(one.id());
        });
  return begun_.take();
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
  if (is_past_credit_)
    overdraft_bytes_ += exchange_cost(graph::stream_element(rows));
  to.emit(rows, with_.time->now_us());
  with_.metrics->bytes_out.add(to.bytes_out() - before);
}

void stream_task::broadcast(std::size_t result, const graph::stream_element& element) {
  const auto* split = std::get_if<graph::barrier>(&element);
  auto* begun = split == nullptr ? nullptr : begun_.find(split->checkpoint);
  if (begun == nullptr || split->alignment != graph::barrier_alignment::unaligned) {
    with_.partitions[result]->broadcast(element);
    return;
  }
  std::vector<overtaken_elements> found;
  with_.partitions[result]->overtake(*split, found);
  add_overtaken(*begun, result, std::move(found));
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
