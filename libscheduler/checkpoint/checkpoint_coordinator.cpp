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
      due_ms_(is_periodic() ? now_ms + job_->checkpoints.interval_ms : never_ms) {}

void checkpoint_coordinator::poll(std::int64_t now_ms) {
  if (pending_ && pending_->at != stage::storing && now_ms >= pending_->deadline_ms)
    abort({errc::checkpoint_expired, named(pending_->id) + " expired: after " +
                                         std::to_string(job_->checkpoints.timeout_ms) + " ms"},
          true, now_ms);
  if (!is_stopped_ && !pending_ && now_ms >= due_ms_)
    begin(now_ms);
}

std::optional<std::int64_t> checkpoint_coordinator::next_deadline_ms() const {
  if (pending_)
    return pending_->at == stage::storing ? std::nullopt : std::optional(pending_->deadline_ms);
  return is_stopped_ || due_ms_ == never_ms ? std::nullopt : std::optional(due_ms_);
}

void checkpoint_coordinator::continue_after(checkpoint_id checkpoint) {
  next_id_ = std::max(next_id_, checkpoint + 1);
}

void checkpoint_coordinator::on_awaited(bool are_all_waiting, std::int64_t now_ms) {
  if (!are_all_waiting)
    return;
  is_final_wanted_ = true;
  if (!pending_)
    due_ms_ = std::min(due_ms_, now_ms);
  poll(now_ms);
}

void checkpoint_coordinator::request(std::int64_t now_ms) {
  if (is_stopped_) {
    actions_.emplace_back(
        answer_request{0, {errc::checkpoint_declined, "no checkpoint is taken: job is over"}});
    return;
  }
  is_requested_ = true;
  if (!pending_)
    due_ms_ = std::min(due_ms_, now_ms);
  poll(now_ms);
}

void checkpoint_coordinator::begin(std::int64_t now_ms) {
  pending& next = pending_.emplace();
  next.is_requested = std::exchange(is_requested_, false);
  next.started_ms = now_ms;
  next.deadline_ms = now_ms + job_->checkpoints.timeout_ms;
  actions_.emplace_back(plan_tasks{});
}

void checkpoint_coordinator::on_plan(const result<checkpoint_plan>& planned, std::int64_t now_ms) {
  if (!pending_ || pending_->at != stage::planning)
    return;
  if (!planned) {
    is_requested_ = is_requested_ || pending_->is_requested;
    pending_.reset();
    due_ms_ = is_periodic()     ? now_ms + std::min(job_->checkpoints.interval_ms, plan_again_ms)
              : is_wanted_now() ? now_ms + plan_again_ms
                                : never_ms;
    return;
  }
  if (!is_periodic() && !pending_->is_requested && !planned->are_all_waiting) {
    // The job has restarted meanwhile.
    pending_.reset();
    is_final_wanted_ = false;
    due_ms_ = never_ms;
    return;
  }
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
  for (const graph::job_vertex& vertex : job_->vertices) {
    for (const graph::operator_node& node : vertex.operators) {
      state::operator_state& stored = result->operators[node.id];
      stored.id = node.id;
      stored.name = node.name;
      stored.parallelism = vertex.parallelism;
      stored.max_parallelism = vertex.max_parallelism;
    }
  }
  pending_->result = std::move(result);
  statistics_.begun(pending_->id, static_cast<std::int32_t>(planned->acknowledge.size()), now_ms);
  actions_.emplace_back(prepare_storage{pending_->id});
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
  actions_.emplace_back(trigger_tasks{pending_->id, now_ms, pending_->plan.trigger});
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
  actions_.emplace_back(store_checkpoint{pending_->result});
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
  failures_ = 0;
  statistics_.completed(checkpoint, pending_->result->size_bytes(), pending_->result->directory,
                        now_ms);
  actions_.emplace_back(announce_completed{checkpoint, pending_->plan.acknowledge});
  if (pending_->is_requested)
    actions_.emplace_back(answer_request{checkpoint, {}});
  end(now_ms);
}

void checkpoint_coordinator::abort(error reason, bool is_failure, std::int64_t now_ms) {
  is_failure = is_failure && !pending_->is_requested; // who requested it is told instead
  if (pending_->id != 0) {
    statistics_.failed(pending_->id, reason, now_ms);
    actions_.emplace_back(announce_aborted{pending_->id, pending_->plan.acknowledge, reason});
  }
  if (pending_->is_requested)
    actions_.emplace_back(answer_request{pending_->id, reason});
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
    due_ms_ = now_ms + plan_again_ms;
  }
}

void checkpoint_coordinator::end(std::int64_t now_ms) {
  due_ms_ = is_periodic() ? std::max(pending_->started_ms + job_->checkpoints.interval_ms,
                                     now_ms + job_->checkpoints.min_pause_ms)
                          : never_ms;
  pending_.reset();
  if (is_wanted_now()) {
    due_ms_ = now_ms;
    poll(now_ms);
  }
}

void checkpoint_coordinator::stop(const error& reason) {
  is_stopped_ = true;
  is_final_wanted_ = false;
  if (pending_ && pending_->at != stage::storing)
    abort(reason, false, pending_->started_ms);
  if (std::exchange(is_requested_, false))
    actions_.emplace_back(answer_request{0, reason});
}

std::vector<checkpoint_action> checkpoint_coordinator::take_actions() {
  return std::exchange(actions_, {});
}

} // namespace headrace::scheduler
