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
  return std::any_of(pending_.begin(), pending_.end(), is_stop);
}

bool checkpoint_coordinator::is_storing() const {
  return std::any_of(pending_.begin(), pending_.end(),
                     [](const pending& one) { return one.at == stage::storing; });
}

std::int64_t checkpoint_coordinator::due_ms() const {
  return is_wanted_now() ? std::min(wanted_ms_, periodic_ms_) : periodic_ms_;
}

bool checkpoint_coordinator::may_begin() const {
  if (is_stopped_ || is_ending_)
    return false;
  return pending_.empty() || may_begin_beside();
}

bool checkpoint_coordinator::may_begin_beside() const {
  const auto most = static_cast<std::size_t>(job_->checkpoints.max_concurrent);
  return !is_wanted_now() && is_periodic() && job_->checkpoints.min_pause_ms == 0 &&
         pending_.size() < most &&
         std::all_of(pending_.begin(), pending_.end(), [](const pending& one) {
           return one.at >= stage::tasks && !one.savepoint && !one.is_requested;
         });
}

bool checkpoint_coordinator::awaits_end_of(const checkpoint_plan& planned,
                                           std::int64_t now_ms) const {
  return now_ms < finishing_until_ms_ &&
         std::any_of(planned.acknowledge.begin(), planned.acknowledge.end(),
                     [&](const auto& task) { return finishing_.contains(task.attempt); });
}

void checkpoint_coordinator::poll(std::int64_t now_ms) {
  const auto late = std::find_if(pending_.rbegin(), pending_.rend(), [&](const pending& one) {
    return one.at != stage::storing && now_ms >= one.deadline_ms;
  });
  if (late != pending_.rend())
    abort(late->id,
          {errc::checkpoint_expired, named(late->id) + " expired: after " +
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
                                    error failure, bool may_be_repeated) {
  actions_.emplace_back(answer_savepoint{
      what.number, checkpoint, what.order, std::move(failure), {}, may_be_repeated});
}

std::optional<std::int64_t> checkpoint_coordinator::next_deadline_ms() const {
  auto next = may_begin() ? due_ms() : never_ms;
  for (const auto& one : pending_)
    if (one.at != stage::storing)
      next = std::min(next, one.deadline_ms);
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
  const auto is_begun = [](const pending& one) {
    return one.at != stage::planning && one.at != stage::storing;
  };
  for (auto found = std::find_if(pending_.begin(), pending_.end(), is_begun);
       found != pending_.end(); found = std::find_if(pending_.begin(), pending_.end(), is_begun))
    abort(found->id, {errc::checkpoint_declined, named(found->id) + " aborted: tasks start again"},
          false, now_ms);
  finishing_.clear();
  if (std::exchange(is_ending_, false) && is_periodic())
    periodic_ms_ = now_ms + job_->checkpoints.interval_ms;
}

void checkpoint_coordinator::begin(std::int64_t now_ms) {
  pending& next = pending_.emplace_back();
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
  if (pending_.empty() || pending_.back().at != stage::planning)
    return;
  pending& next = pending_.back();
  if (!planned || awaits_end_of(*planned, now_ms)) {
    is_requested_ = is_requested_ || next.is_requested;
    if (next.savepoint)
      waiting_savepoints_.push_front({*std::move(next.savepoint), next.deadline_ms});
    pending_.pop_back();
    wanted_ms_ = now_ms + plan_again_ms;
    if (is_periodic())
      periodic_ms_ =
          std::max(periodic_ms_, now_ms + std::min(job_->checkpoints.interval_ms, plan_again_ms));
    return;
  }
  if (!is_periodic() && !next.is_requested && !next.savepoint && !planned->are_all_waiting) {
    // The job has restarted meanwhile.
    pending_.pop_back();
    is_final_wanted_ = false;
    return;
  }
  if (!next.savepoint || is_stop(next))
    is_final_wanted_ = false;
  if (is_periodic() && !next.savepoint)
    periodic_ms_ = next.started_ms + job_->checkpoints.interval_ms;
  next.plan = *planned;
  next.id = next_id_++;
  next.at = stage::preparing;
  for (const planned_task& task : planned->acknowledge)
    next.missing_tasks.insert(task.attempt);
  next.missing_coordinators = {coordinators_.begin(), coordinators_.end()};
  next.result = describe(next);
  const auto order = order_of(next);
  statistics_.begun(next.id, order.get(), static_cast<std::int32_t>(planned->acknowledge.size()),
                    now_ms);
  actions_.emplace_back(prepare_storage{next.id, order});
}

std::shared_ptr<state::completed_checkpoint>
checkpoint_coordinator::describe(const pending& one) const {
  auto result = std::make_shared<state::completed_checkpoint>();
  result->job = job_->id;
  result->id = one.id;
  if (const auto order = order_of(one)) {
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
  return result;
}

checkpoint_coordinator::pending* checkpoint_coordinator::find(checkpoint_id checkpoint, stage at) {
  const auto found = std::find_if(pending_.begin(), pending_.end(), [&](const pending& one) {
    return one.id == checkpoint && one.at == at;
  });
  return found == pending_.end() ? nullptr : &*found;
}

void checkpoint_coordinator::on_prepared(checkpoint_id checkpoint, const status& outcome,
                                         std::int64_t now_ms) {
  auto* const one = find(checkpoint, stage::preparing);
  if (one == nullptr)
    return;
  if (!outcome) {
    abort(checkpoint, outcome.error(), true, now_ms);
    return;
  }
  one->at = stage::coordinators;
  if (one->missing_coordinators.empty())
    call_hooks(*one, now_ms);
  else
    actions_.emplace_back(snapshot_coordinators{checkpoint});
}

void checkpoint_coordinator::on_coordinator_snapshot(checkpoint_id checkpoint,
                                                     const operator_id& source,
                                                     result<byte_string> snapshot,
                                                     std::int64_t now_ms) {
  auto* const one = find(checkpoint, stage::coordinators);
  if (one == nullptr || one->missing_coordinators.erase(source) == 0)
    return;
  if (!snapshot) {
    abort(checkpoint,
          {errc::checkpoint_declined, named(checkpoint) + " declined by an operator coordinator",
           snapshot.error()},
          true, now_ms);
    return;
  }
  state::operator_state& stored = one->result->operators[source];
  stored.coordinator = std::move(*snapshot);
  stored.has_coordinator = true;
  if (one->missing_coordinators.empty())
    call_hooks(*one, now_ms);
}

void checkpoint_coordinator::call_hooks(pending& one, std::int64_t now_ms) {
  if (job_->checkpoints.master_hooks.empty()) {
    trigger(one, now_ms);
    return;
  }
  one.at = stage::hooks;
  actions_.emplace_back(trigger_hooks{one.id});
}

void checkpoint_coordinator::on_hooks(checkpoint_id checkpoint, result<byte_string> states,
                                      std::int64_t now_ms) {
  auto* const one = find(checkpoint, stage::hooks);
  if (one == nullptr)
    return;
  if (!states) {
    abort(checkpoint,
          {errc::checkpoint_declined, named(checkpoint) + " declined by a master hook",
           std::move(states).error()},
          true, now_ms);
    return;
  }
  one->result->master_hooks = *std::move(states);
  trigger(*one, now_ms);
}

void checkpoint_coordinator::trigger(pending& one, std::int64_t now_ms) {
  one.at = stage::tasks;
  one.result->triggered_ms = now_ms;
  actions_.emplace_back(trigger_tasks{one.id, now_ms, one.plan.trigger, order_of(one)});
}

void checkpoint_coordinator::on_acknowledged(checkpoint_id checkpoint,
                                             const execution_attempt_id& attempt,
                                             state::task_state_snapshot state, std::int64_t now_ms,
                                             const snapshot_figures& figures) {
  auto* const one = find(checkpoint, stage::tasks);
  if (one == nullptr || one->missing_tasks.erase(attempt) == 0)
    return;
  statistics_.acknowledged(checkpoint, figures, now_ms);
  add_state(*one, attempt, std::move(state));
  if (!one->missing_tasks.empty())
    return;
  one->at = stage::storing;
  one->result->completed_ms = now_ms;
  actions_.emplace_back(store_checkpoint{one->result, order_of(*one)});
}

void checkpoint_coordinator::add_state(pending& to, const execution_attempt_id& attempt,
                                       state::task_state_snapshot state) {
  for (auto& [node, part] : state.operators) {
    const auto stored = to.result->operators.find(node);
    if (stored != to.result->operators.end() && !part.is_empty())
      stored->second.subtasks[attempt.subtask] = std::move(part);
  }
}

void checkpoint_coordinator::on_declined(checkpoint_id checkpoint,
                                         const execution_attempt_id& attempt, const error& reason,
                                         std::int64_t now_ms) {
  const auto* const one = find(checkpoint, stage::tasks);
  if (one == nullptr || !one->missing_tasks.contains(attempt))
    return;
  // A task that was not ready says nothing about the health of checkpoints.
  const bool is_failure =
      reason.code != errc::checkpoint_declined && reason.code != errc::checkpoint_subsumed;
  abort(checkpoint,
        {errc::checkpoint_declined, named(checkpoint) + " declined by task " + to_string(attempt),
         reason},
        is_failure, now_ms);
}

void checkpoint_coordinator::on_task_ended(const execution_attempt_id& attempt, bool has_finished,
                                           std::int64_t now_ms) {
  const auto needs_it = [&](const pending& one) {
    return one.at != stage::storing && one.missing_tasks.contains(attempt);
  };
  // One after the other: what is begun meanwhile is planned without that task.
  for (auto found = std::find_if(pending_.begin(), pending_.end(), needs_it);
       found != pending_.end(); found = std::find_if(pending_.begin(), pending_.end(), needs_it)) {
    found->may_be_repeated = has_finished && !has_drained(*found);
    abort(
        found->id,
        {errc::checkpoint_declined,
         named(found->id) + " aborted: a task ended before it acknowledged: " + to_string(attempt)},
        false, now_ms);
  }
  if (finishing_.erase(attempt) > 0 && finishing_.empty() && is_wanted_now()) {
    wanted_ms_ = now_ms;
    poll(now_ms);
  }
}

void checkpoint_coordinator::on_stored(checkpoint_id checkpoint, const status& outcome,
                                       std::int64_t now_ms) {
  auto* const one = find(checkpoint, stage::storing);
  if (one == nullptr)
    return;
  if (!outcome) {
    abort(checkpoint,
          {errc::storage_failed, named(checkpoint) + " cannot be stored", outcome.error()}, true,
          now_ms);
    return;
  }
  statistics_.completed(checkpoint,
                        {one->result->size_bytes(), one->result->new_bytes(newest_.get())},
                        one->result->directory, now_ms);
  if (!one->savepoint) // which has files of its own
    newest_ = one->result;
  is_ending_ = is_stop(*one);
  if (!one->savepoint || is_ending_) {
    failures_ = 0;
    for (const auto& task : one->plan.acknowledge)
      if (task.awaits_checkpoint && finishing_.insert(task.attempt).second)
        finishing_until_ms_ = now_ms + finish_patience_ms; // once for each
    actions_.emplace_back(announce_completed{checkpoint, one->plan.acknowledge});
  }
  if (one->savepoint)
    actions_.emplace_back(answer_savepoint{
        one->savepoint->number, checkpoint, order_of(*one), {}, one->plan.acknowledge, false});
  if (one->is_requested)
    actions_.emplace_back(answer_request{checkpoint, {}});
  if (is_ending_)
    refuse_waiting({errc::checkpoint_declined, "job ends with another savepoint"});
  subsume(checkpoint, {errc::checkpoint_subsumed, named(checkpoint) + " is complete"}, now_ms);
  end(checkpoint, now_ms);
}

void checkpoint_coordinator::subsume(checkpoint_id checkpoint, const error& reason,
                                     std::int64_t now_ms) {
  const auto is_older = [&](const pending& one) {
    return one.id < checkpoint && one.at == stage::tasks;
  };
  for (auto& one : pending_)
    if (is_older(one))
      abort_one(one, reason, now_ms);
  std::erase_if(pending_, is_older);
}

void checkpoint_coordinator::abort_one(pending& one, const error& reason, std::int64_t now_ms) {
  if (one.id != 0) {
    statistics_.failed(one.id, reason, now_ms);
    actions_.emplace_back(announce_aborted{one.id, one.plan.acknowledge, reason, order_of(one)});
  }
  if (one.is_requested)
    actions_.emplace_back(answer_request{one.id, reason});
  if (one.savepoint)
    answer(*one.savepoint, one.id, reason, one.may_be_repeated);
}

void checkpoint_coordinator::abort(checkpoint_id checkpoint, error reason, bool is_failure,
                                   std::int64_t now_ms) {
  const auto found = std::find_if(pending_.begin(), pending_.end(),
                                  [&](const pending& one) { return one.id == checkpoint; });
  auto& one = *found;
  // Who requested it is told instead.
  is_failure = is_failure && !one.is_requested && !one.savepoint;
  const bool has_ended_sources = has_drained(one) && !is_stopped_;
  abort_one(one, reason, now_ms);
  if (has_ended_sources)
    actions_.emplace_back(
        give_up{{reason.code,
                 "job was drained for a savepoint that failed, and goes on from its newest "
                 "checkpoint",
                 reason}});
  if (checkpoint != 0)
    subsume(checkpoint, {errc::checkpoint_subsumed, named(checkpoint) + " was given up", reason},
            now_ms);
  end(checkpoint, now_ms);
  if (!is_periodic() && !is_stopped_) {
    // No later one would hold the end of the job, and tasks that wait for it have said so already.
    is_final_wanted_ = true;
    wanted_ms_ = now_ms + plan_again_ms;
  }
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
  }
}

void checkpoint_coordinator::end(checkpoint_id checkpoint, std::int64_t now_ms) {
  const auto found = std::find_if(pending_.begin(), pending_.end(),
                                  [&](const pending& one) { return one.id == checkpoint; });
  if (is_periodic()) {
    if (found->id == 0 && !found->savepoint) // it was never planned
      periodic_ms_ = found->started_ms + job_->checkpoints.interval_ms;
    periodic_ms_ = std::max(periodic_ms_, now_ms + job_->checkpoints.min_pause_ms);
  }
  pending_.erase(found);
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
  const auto is_open = [](const pending& one) { return one.at != stage::storing; };
  for (auto found = std::find_if(pending_.begin(), pending_.end(), is_open);
       found != pending_.end(); found = std::find_if(pending_.begin(), pending_.end(), is_open))
    abort(found->id, reason, false, found->started_ms);
  if (std::exchange(is_requested_, false))
    actions_.emplace_back(answer_request{0, reason});
  refuse_waiting(reason);
}

std::vector<checkpoint_action> checkpoint_coordinator::take_actions() {
  return std::exchange(actions_, {});
}

} // namespace headrace::scheduler
