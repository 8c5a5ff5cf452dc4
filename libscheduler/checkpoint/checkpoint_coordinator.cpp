#include "libscheduler/checkpoint/checkpoint_coordinator.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace headrace::scheduler {

namespace {

/// How long to wait when tasks were not ready to be planned.
constexpr std::int64_t plan_again_ms = 100;

/// Due only when the tasks wait for a final one.
constexpr std::int64_t never_ms = std::numeric_limits<std::int64_t>::max();

std::string named(checkpoint_id checkpoint) { return "checkpoint " + std::to_string(checkpoint); }

} // namespace

checkpoint_coordinator::checkpoint_coordinator(std::shared_ptr<const graph::job_graph> job,
                                               std::vector<operator_id> coordinators,
                                               std::int64_t now_ms)
    : job_(std::move(job)), coordinators_(std::move(coordinators)),
      periodic_ms_(is_periodic() ? now_ms + job_->checkpoints.interval_ms : never_ms) {}

bool checkpoint_coordinator::has_stop_pending() const {
  const auto order = pending_order();
  return order != nullptr && order->stop != graph::savepoint_stop::none;
}

std::int64_t checkpoint_coordinator::due_ms() const {
  return is_wanted_now() ? std::min(wanted_ms_, periodic_ms_) : periodic_ms_;
}

void checkpoint_coordinator::poll(std::int64_t now_ms) {
  if (pending_ && pending_->at != stage::storing && now_ms >= pending_->deadline_ms)
    abort({errc::checkpoint_expired, named(pending_->id) + " expired: after " +
                                         std::to_string(job_->checkpoints.timeout_ms) + " ms"},
          true, now_ms);
  expire_waiting(now_ms);
  if (may_begin() && now_ms >= due_ms())
    begin(now_ms);
}

void checkpoint_coordinator::expire_waiting(std::int64_t now_ms) {
  while (!waiting_savepoints_.empty() && now_ms >= waiting_savepoints_.front().deadline_ms) {
    const auto late = std::move(waiting_savepoints_.front());
    waiting_savepoints_.pop_front();
    answer(late.what, 0,
           {errc::checkpoint_expired, "savepoint could not begin in time: after " +
                                          std::to_string(job_->checkpoints.timeout_ms) + " ms"});
  }
}

void checkpoint_coordinator::answer(const savepoint_request& what, checkpoint_id checkpoint,
                                    error failure) {
  actions_.emplace_back(
      answer_savepoint{what.number, checkpoint, what.order, std::move(failure), {}});
}

std::optional<std::int64_t> checkpoint_coordinator::next_deadline_ms() const {
  auto next = never_ms;
  if (pending_ && pending_->at != stage::storing)
    next = pending_->deadline_ms;
  else if (may_begin())
    next = due_ms();
  if (!waiting_savepoints_.empty())
    next = std::min(next, waiting_savepoints_.front().deadline_ms);
  return next == never_ms ? std::nullopt : std::optional(next);
}

void checkpoint_coordinator::continue_after(checkpoint_id checkpoint) {
  next_id_ = std::max(next_id_, checkpoint + 1);
}

void checkpoint_coordinator::on_awaited(bool are_all_waiting, std::int64_t now_ms) {
  if (!are_all_waiting)
    return;
  if (has_stop_pending() || is_ending_)
    return; // that one holds the end, too
  is_final_wanted_ = true;
  wanted_ms_ = now_ms;
  poll(now_ms);
}

void checkpoint_coordinator::request(std::int64_t now_ms) {
  if (is_stopped_) {
    actions_.emplace_back(
        answer_request{0, {errc::checkpoint_declined, "no checkpoint is taken: job is over"}});
    return;
  }
  is_requested_ = true;
  wanted_ms_ = now_ms;
  poll(now_ms);
}

void checkpoint_coordinator::request(savepoint_request what, std::int64_t now_ms) {
  if (is_stopped_ || is_ending_)
    answer(what, 0,
           {errc::checkpoint_declined, is_ending_ ? "no savepoint is taken: job ends with another"
                                                  : "no savepoint is taken: job is over"});
  else if (waiting_savepoints_.size() >= waiting_savepoints_max)
    answer(what, 0,
           {errc::checkpoint_declined,
            "too many savepoints wait: " + std::to_string(waiting_savepoints_.size())});
  else
    waiting_savepoints_.push_back({std::move(what), now_ms + job_->checkpoints.timeout_ms});
  wanted_ms_ = now_ms;
  poll(now_ms);
}

void checkpoint_coordinator::on_restart(std::int64_t now_ms) {
  if (std::exchange(is_ending_, false) && is_periodic())
    periodic_ms_ = now_ms + job_->checkpoints.interval_ms;
}

void checkpoint_coordinator::begin(std::int64_t now_ms) {
  pending& next = pending_.emplace();
  next.started_ms = now_ms;
  next.deadline_ms = now_ms + job_->checkpoints.timeout_ms;
  if (waiting_savepoints_.empty() || is_requested_) { // the job manager's end waits for nobody
    next.is_requested = std::exchange(is_requested_, false);
  } else {
    next.savepoint = std::move(waiting_savepoints_.front().what);
    next.deadline_ms = waiting_savepoints_.front().deadline_ms;
    waiting_savepoints_.pop_front();
  }
  actions_.emplace_back(plan_tasks{});
}

void checkpoint_coordinator::on_plan(const result<checkpoint_plan>& planned, std::int64_t now_ms) {
  if (!pending_ || pending_->at != stage::planning)
    return;
  if (!planned) {
    is_requested_ = is_requested_ || pending_->is_requested;
    if (pending_->savepoint)
      waiting_savepoints_.push_front({*std::move(pending_->savepoint), pending_->deadline_ms});
    pending_.reset();
    wanted_ms_ = now_ms + plan_again_ms;
    if (is_periodic())
      periodic_ms_ =
          std::max(periodic_ms_, now_ms + std::min(job_->checkpoints.interval_ms, plan_again_ms));
    return;
  }
  if (!is_periodic() && !pending_->is_requested && !pending_->savepoint &&
      !planned->are_all_waiting) {
    // The job has restarted meanwhile.
    pending_.reset();
    is_final_wanted_ = false;
    return;
  }
  if (!pending_->savepoint || has_stop_pending())
    is_final_wanted_ = false;
  pending_->plan = *planned;
  pending_->id = next_id_++;
  pending_->at = stage::preparing;
  for (const planned_task& task : planned->acknowledge)
    pending_->missing_tasks.insert(task.attempt);
  pending_->missing_coordinators = {coordinators_.begin(), coordinators_.end()};

  auto result = std::make_shared<state::completed_checkpoint>();
  result->job = job_->id;
  result->id = pending_->id;
  if (const auto order = pending_order()) {
    result->kind = state::checkpoint_kind::savepoint;
    result->directory = order->directory;
  }
  for (const graph::job_vertex& vertex : job_->vertices) {
    for (const graph::operator_node& node : vertex.operators) {
      state::operator_state& stored = result->operators[node.id];
      stored.id = node.id;
      stored.uid = node.uid;
      stored.name = node.name;
      stored.parallelism = vertex.parallelism;
      stored.max_parallelism = vertex.max_parallelism;
    }
  }
  pending_->result = std::move(result);
  statistics_.begun(pending_->id, pending_order().get(),
                    static_cast<std::int32_t>(planned->acknowledge.size()), now_ms);
  actions_.emplace_back(prepare_storage{pending_->id, pending_order()});
}

bool checkpoint_coordinator::is_pending(checkpoint_id checkpoint, stage at) const {
  return pending_ && pending_->id == checkpoint && pending_->at == at;
}

void checkpoint_coordinator::on_prepared(checkpoint_id checkpoint, const status& outcome,
                                         std::int64_t now_ms) {
  if (!is_pending(checkpoint, stage::preparing))
    return;
  if (!outcome) {
    abort(outcome.error(), true, now_ms);
    return;
  }
  pending_->at = stage::coordinators;
  if (pending_->missing_coordinators.empty())
    trigger(now_ms);
  else
    actions_.emplace_back(snapshot_coordinators{checkpoint});
}

void checkpoint_coordinator::on_coordinator_snapshot(checkpoint_id checkpoint,
                                                     const operator_id& source,
                                                     result<byte_string> snapshot,
                                                     std::int64_t now_ms) {
  if (!is_pending(checkpoint, stage::coordinators) ||
      pending_->missing_coordinators.erase(source) == 0)
    return;
  if (!snapshot) {
    abort({errc::checkpoint_declined, named(checkpoint) + " declined by an operator coordinator",
           snapshot.error()},
          true, now_ms);
    return;
  }
  state::operator_state& stored = pending_->result->operators[source];
  stored.coordinator = std::move(*snapshot);
  stored.has_coordinator = true;
  if (pending_->missing_coordinators.empty())
    trigger(now_ms);
}

void checkpoint_coordinator::trigger(std::int64_t now_ms) {
  pending_->at = stage::tasks;
  pending_->result->triggered_ms = now_ms;
  actions_.emplace_back(
      trigger_tasks{pending_->id, now_ms, pending_->plan.trigger, pending_order()});
}

void checkpoint_coordinator::on_acknowledged(checkpoint_id checkpoint,
                                             const execution_attempt_id& attempt,
                                             state::task_state_snapshot state,
                                             std::int64_t now_ms) {
  if (!is_pending(checkpoint, stage::tasks) || pending_->missing_tasks.erase(attempt) == 0)
    return;
  statistics_.acknowledged(checkpoint, now_ms);
  add_state(attempt, std::move(state));
  if (!pending_->missing_tasks.empty())
    return;
  pending_->at = stage::storing;
  pending_->result->completed_ms = now_ms;
  actions_.emplace_back(store_checkpoint{pending_->result, pending_order()});
}

void checkpoint_coordinator::add_state(const execution_attempt_id& attempt,
                                       state::task_state_snapshot state) {
  for (auto& [node, part] : state.operators) {
    const auto stored = pending_->result->operators.find(node);
    if (stored != pending_->result->operators.end() && !part.is_empty())
      stored->second.subtasks[attempt.subtask] = std::move(part);
  }
}

void checkpoint_coordinator::on_declined(checkpoint_id checkpoint,
                                         const execution_attempt_id& attempt, const error& reason,
                                         std::int64_t now_ms) {
  if (!is_pending(checkpoint, stage::tasks) || !pending_->missing_tasks.contains(attempt))
    return;
  // A task that was not ready says nothing about the health of checkpoints.
  const bool is_failure =
      reason.code != errc::checkpoint_declined && reason.code != errc::checkpoint_subsumed;
  abort({errc::checkpoint_declined, named(checkpoint) + " declined by task " + to_string(attempt),
         reason},
        is_failure, now_ms);
}

void checkpoint_coordinator::on_task_ended(const execution_attempt_id& attempt,
                                           std::int64_t now_ms) {
  if (!pending_ || pending_->at == stage::storing || !pending_->missing_tasks.contains(attempt))
    return;
  abort({errc::checkpoint_declined,
         named(pending_->id) +
             " aborted: a task ended before it acknowledged: " + to_string(attempt)},
        false, now_ms);
}

void checkpoint_coordinator::on_stored(checkpoint_id checkpoint, const status& outcome,
                                       std::int64_t now_ms) {
  if (!is_pending(checkpoint, stage::storing))
    return;
  if (!outcome) {
    abort({errc::storage_failed, named(checkpoint) + " cannot be stored", outcome.error()}, true,
          now_ms);
    return;
  }
  statistics_.completed(checkpoint, pending_->result->size_bytes(), pending_->result->directory,
                        now_ms);
  is_ending_ = has_stop_pending();
  if (!pending_->savepoint || is_ending_) {
    failures_ = 0;
    actions_.emplace_back(announce_completed{checkpoint, pending_->plan.acknowledge});
  }
  if (pending_->savepoint)
    actions_.emplace_back(answer_savepoint{
        pending_->savepoint->number, checkpoint, pending_order(), {}, pending_->plan.acknowledge});
  if (pending_->is_requested)
    actions_.emplace_back(answer_request{checkpoint, {}});
  if (is_ending_)
    refuse_waiting({errc::checkpoint_declined, "job ends with another savepoint"});
  end(now_ms);
}

void checkpoint_coordinator::abort(error reason, bool is_failure, std::int64_t now_ms) {
  // Who requested it is told instead.
  is_failure = is_failure && !pending_->is_requested && !pending_->savepoint;
  const auto order = pending_order();
  const bool has_ended_sources = order != nullptr && order->stop == graph::savepoint_stop::drain &&
                                 pending_->at >= stage::tasks && !is_stopped_;
  if (pending_->id != 0) {
    statistics_.failed(pending_->id, reason, now_ms);
    actions_.emplace_back(
        announce_aborted{pending_->id, pending_->plan.acknowledge, reason, order});
  }
  if (pending_->is_requested)
    actions_.emplace_back(answer_request{pending_->id, reason});
  if (pending_->savepoint)
    answer(*pending_->savepoint, pending_->id, reason);
  if (has_ended_sources)
    actions_.emplace_back(
        give_up{{reason.code,
                 "job was drained for a savepoint that failed, and goes on from its newest "
                 "checkpoint",
                 reason}});
  end(now_ms);
  if (!is_failure)
    return;
  ++failures_;
  const std::int32_t tolerated = job_->checkpoints.tolerable_failures;
  if (tolerated >= 0 && failures_ > tolerated) {
    const std::int32_t failed = std::exchange(failures_, 0);
    actions_.emplace_back(
        give_up{{reason.code,
                 "too many checkpoints failed in a row: " + std::to_string(failed) +
                     ", tolerated " + std::to_string(tolerated),
                 std::move(reason)}});
  } else if (!is_periodic() && !is_stopped_) {
    is_final_wanted_ = true; // there is no later one that would hold the end of the job
    wanted_ms_ = now_ms + plan_again_ms;
  }
}

void checkpoint_coordinator::end(std::int64_t now_ms) {
  if (is_periodic()) {
    if (!pending_->savepoint)
      periodic_ms_ = pending_->started_ms + job_->checkpoints.interval_ms;
    periodic_ms_ = std::max(periodic_ms_, now_ms + job_->checkpoints.min_pause_ms);
  }
  pending_.reset();
  if (is_wanted_now()) {
    wanted_ms_ = now_ms;
    poll(now_ms);
  }
}

void checkpoint_coordinator::refuse_waiting(const error& reason) {
  for (const auto& waiting : std::exchange(waiting_savepoints_, {}))
    answer(waiting.what, 0, reason);
}

void checkpoint_coordinator::stop(const error& reason) {
  is_stopped_ = true;
  is_final_wanted_ = false;
  if (pending_ && pending_->at != stage::storing)
    abort(reason, false, pending_->started_ms);
  if (std::exchange(is_requested_, false))
    actions_.emplace_back(answer_request{0, reason});
  refuse_waiting(reason);
}

std::vector<checkpoint_action> checkpoint_coordinator::take_actions() {
  return std::exchange(actions_, {});
}

} // namespace headrace::scheduler
