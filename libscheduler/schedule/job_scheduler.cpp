#include "libscheduler/schedule/job_scheduler.hpp"

#include "libscheduler/failover/failover_strategy.hpp"
#include "libscheduler/failover/unrecoverable.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>
#include <utility>

namespace headrace::scheduler {

job_scheduler::job_scheduler(execution_graph graph, random_source& random)
    : graph_(std::move(graph)), regions_(graph_), sharing_(graph_),
      strategy_(make_eager_strategy(graph_)),
      restart_(make_restart_strategy(graph_.job().restart, random)) {}

void job_scheduler::begin() {
  if (graph_.state() != job_state::created)
    return; // canceled before it began
  change_job(job_state::running);
  restore(strategy_->on_scheduling_began(), true);
}

void job_scheduler::cancel() {
  if (is_ending())
    return;
  change_job(job_state::cancelling);
  end_all_tasks();
}

void job_scheduler::suspend() {
  if (is_over())
    return;
  change_job(job_state::suspended);
  end_all_tasks();
}

void job_scheduler::restore(std::vector<task_index> tasks, bool is_first_start) {
  const std::uint64_t epoch = next_epoch_++;
  for (const task_index task : tasks)
    restored_by_[task] = epoch;
  const bool is_whole_job = static_cast<std::int32_t>(tasks.size()) == graph_.task_count();
  restoring_[epoch] = {tasks, is_first_start};
  actions_.emplace_back(restore_tasks{epoch, std::move(tasks), is_whole_job, is_first_start});
}

void job_scheduler::on_restored(std::uint64_t epoch, const status& outcome, std::int64_t now_ms) {
  const auto found = restoring_.find(epoch);
  if (found == restoring_.end())
    return;
  const restoring done = std::move(found->second);
  restoring_.erase(found);
  if (is_ending())
    return;
  std::vector<task_index> tasks; // not those that were reset again meanwhile
  for (const task_index task : done.tasks) {
    const auto waits = restored_by_.find(task);
    if (waits == restored_by_.end() || waits->second != epoch)
      continue;
    restored_by_.erase(waits);
    if (graph_.current(task).state == task_state::created)
      tasks.push_back(task);
  }
  if (!outcome) {
    // A job that cannot find the state that it was told to start from must not start without it.
    if (done.is_first_start)
      fail_job(outcome.error());
    else
      fail_tasks(tasks, outcome.error(), false, now_ms);
    return;
  }
  schedule(tasks);
}

void job_scheduler::schedule(const std::vector<task_index>& tasks) {
  if (tasks.empty())
    return;
  std::set<std::int32_t> shared_slots;
  for (const task_index task : tasks) {
    change_task(task, task_state::scheduled);
    shared_slots.insert(sharing_.slot_of(task));
  }
  actions_.emplace_back(want_slots{{shared_slots.begin(), shared_slots.end()}});
}

void job_scheduler::on_slots_assigned(const std::vector<slot_assignment>& assigned) {
  std::vector<task_index> ready;
  for (const slot_assignment& assignment : assigned) {
    for (const task_index task : sharing_.tasks_in(assignment.shared_slot)) {
      if (graph_.current(task).state != task_state::scheduled)
        continue;
      graph_.assign_slot(task, assignment.slot);
      ready.push_back(task);
    }
  }
  if (ready.empty() || is_ending())
    return;
  std::sort(ready.begin(), ready.end());
  // All locations are known before the first descriptor is built.
  for (const task_index task : ready) {
    change_task(task, task_state::deploying);
    actions_.emplace_back(deploy_task{task});
  }
  was_deployed_ = true;
  if (graph_.state() == job_state::restarting && to_restart_.empty() && restoring_.empty() &&
      graph_.count_of(task_state::scheduled) == 0)
    change_job(job_state::running);
}

void job_scheduler::on_slots_unavailable(const error& cause, std::int64_t now_ms) {
  if (is_ending())
    return;
  if (!was_deployed_) {
    fail_job(cause);
    return;
  }
  std::vector<task_index> waiting;
  for (task_index task = 0; task < graph_.task_count(); ++task) {
    if (graph_.current(task).state == task_state::scheduled)
      waiting.push_back(task);
  }
  if (!waiting.empty())
    fail_tasks(waiting, cause, false, now_ms);
}

void job_scheduler::on_deploy_failed(const execution_attempt_id& attempt, const error& cause,
                                     std::int64_t now_ms) {
  const auto task = graph_.find(attempt);
  if (!task || is_terminal(graph_.current(*task).state))
    return;
  const bool was_canceling = graph_.current(*task).state == task_state::canceling;
  graph_.note_failure(*task, cause);
  change_task(*task, was_canceling ? task_state::canceled : task_state::failed);
  if (was_canceling) {
    note_ended();
    try_restart(now_ms);
  } else {
    fail_tasks({*task}, cause, false, now_ms);
  }
}

status job_scheduler::on_task_state(const execution_attempt_id& attempt, task_state now,
                                    const error& failure, std::int64_t now_ms) {
  const auto found = graph_.find(attempt);
  if (!found)
    return {};
  const task_index task = *found;
  const task_state before = graph_.current(task).state;
  if (before == now || is_terminal(before))
    return {};
  if (before == task_state::canceling) {
    if (!is_terminal(now))
      return {}; // it was sent before the cancel arrived
    if (now == task_state::finished)
      now =
          task_state::canceled; // its partner tasks are being ended, so its rows count for nothing
  }
  if (before == task_state::running && now == task_state::initializing)
    return {};
  if (now == task_state::canceling)
    return {}; // nobody asked it to end: what it ends as is a failure, and not known yet
  const bool was_asked_to_end = before == task_state::canceling;
  if (now == task_state::canceled && !was_asked_to_end)
    now = task_state::failed; // for us an end that nobody asked for is a failure
  if (auto legal = check_transition(before, now); !legal)
    return error(errc::illegal_transition, legal.error().message + ": " + to_string(attempt));

  error cause = failure;
  if (now == task_state::failed && cause.code == errc::none)
    cause =
        error(errc::task_canceled, "task ended without being asked to: " + graph_.name_of(task));
  if (now == task_state::failed)
    graph_.note_failure(task, cause);
  change_task(task, now);
  for (const task_index next : strategy_->on_task_state_changed(task, now))
    schedule({next});
  if (now == task_state::failed && !was_asked_to_end) {
    fail_tasks({task}, cause, false, now_ms);
  } else if (is_terminal(now)) {
    if (now == task_state::finished)
      release_ended_slots(task);
    note_ended();
    try_restart(now_ms);
  }
  return {};
}

void job_scheduler::on_executor_lost(const task_executor_id& executor, const error& cause,
                                     std::int64_t now_ms) {
  std::vector<task_index> failed;
  for (task_index task = 0; task < graph_.task_count(); ++task) {
    const execution& attempt = graph_.current(task);
    if (attempt.slot.executor != executor || !is_deployed(attempt.state))
      continue;
    if (attempt.state == task_state::canceling) {
      change_task(task, task_state::canceled);
      continue;
    }
    graph_.note_failure(task, cause);
    change_task(task, task_state::failed);
    failed.push_back(task);
  }
  if (!failed.empty()) {
    fail_tasks(failed, cause, false, now_ms);
  } else {
    note_ended();
    try_restart(now_ms);
  }
}

void job_scheduler::on_task_missing(const execution_attempt_id& attempt, std::int64_t now_ms) {
  const auto task = graph_.find(attempt);
  if (!task || !is_deployed(graph_.current(*task).state))
    return;
  const bool is_canceling = graph_.current(*task).state == task_state::canceling;
  const error cause(errc::task_executor_lost,
                    "task is not known to its task executor any more: " + graph_.name_of(*task));
  auto changed = on_task_state(attempt, is_canceling ? task_state::canceled : task_state::failed,
                               cause, now_ms);
  HEADRACE_ASSERT(changed.has_value(), "a deployed task may end");
}

void job_scheduler::on_job_failure(const error& cause, std::int64_t now_ms) {
  fail_tasks({}, cause, true, now_ms);
}

void job_scheduler::fail_tasks(const std::vector<task_index>& failed, const error& cause,
                               bool is_whole_job, std::int64_t now_ms) {
  if (is_ending()) {
    note_ended();
    return;
  }
  const bool is_known =
      !is_whole_job && std::all_of(failed.begin(), failed.end(),
                                   [&](task_index task) { return to_restart_.contains(task); });
  if (is_known) {
    try_restart(now_ms);
    return;
  }
  note_failure(cause, failed);
  if (is_unrecoverable(cause)) {
    give_up({errc::job_failed, "job does not restart: the failure would come again", cause});
    return;
  }
  auto delay_ms = restart_->on_failure(now_ms);
  if (!delay_ms) {
    give_up({errc::job_failed, delay_ms.error().message, cause});
    return;
  }
  if (to_restart_.empty())
    ++restarts_;
  for (const task_index task :
       tasks_to_restart(graph_, regions_, failed, graph_.job().region_failover && !is_whole_job)) {
    to_restart_.insert(task);
    end_task(task);
  }
  restart_at_ms_ = std::max(restart_at_ms_, now_ms + *delay_ms);
  if (graph_.state() == job_state::running)
    change_job(job_state::restarting);
  if (*delay_ms > 0)
    actions_.emplace_back(restart_later{*delay_ms});
  try_restart(now_ms);
}

void job_scheduler::on_restart_due(std::int64_t now_ms) { try_restart(now_ms); }

void job_scheduler::try_restart(std::int64_t now_ms) {
  if (to_restart_.empty() || is_ending() || now_ms < restart_at_ms_)
    return;
  const bool are_ended = std::all_of(to_restart_.begin(), to_restart_.end(), [&](task_index task) {
    return is_terminal(graph_.current(task).state);
  });
  if (!are_ended)
    return;
  std::vector<task_index> tasks(to_restart_.begin(), to_restart_.end());
  to_restart_.clear();
  for (const task_index task : tasks)
    graph_.reset_task(task);
  restore(strategy_->on_tasks_to_restart(std::move(tasks)), false);
}

void job_scheduler::note_failure(const error& cause, const std::vector<task_index>& tasks) {
  failure_ = cause;
  noted_failure noted{cause, std::nullopt, {}};
  if (!tasks.empty()) {
    noted.task = tasks.front();
    noted.executor = graph_.current(tasks.front()).slot.executor;
  }
  failures_.push_back(std::move(noted));
}

void job_scheduler::fail_job(const error& cause) {
  if (is_over() || graph_.state() == job_state::failing)
    return;
  note_failure(cause, {});
  give_up(cause);
}

void job_scheduler::give_up(const error& cause) {
  failure_ = cause;
  change_job(job_state::failing);
  end_all_tasks();
}

void job_scheduler::end_all_tasks() {
  to_restart_.clear();
  restoring_.clear();
  restored_by_.clear();
  for (task_index task = 0; task < graph_.task_count(); ++task)
    end_task(task);
  note_ended();
}

void job_scheduler::end_task(task_index task) {
  switch (graph_.current(task).state) {
  case task_state::created:
  case task_state::scheduled:
    restored_by_.erase(task);
    change_task(task, task_state::canceled);
    break;
  case task_state::deploying:
  case task_state::initializing:
  case task_state::running:
    change_task(task, task_state::canceling);
    actions_.emplace_back(cancel_task{task});
    break;
  default:
    break;
  }
}

void job_scheduler::note_ended() {
  if (graph_.state() == job_state::running && graph_.are_all_finished())
    change_job(job_state::finished);
  else if (graph_.state() == job_state::cancelling && graph_.are_all_terminal())
    change_job(job_state::canceled);
  else if (graph_.state() == job_state::failing && graph_.are_all_terminal())
    change_job(job_state::failed);
}

void job_scheduler::release_ended_slots(task_index ended) {
  const std::int32_t slot = sharing_.slot_of(ended);
  const auto& tasks = sharing_.tasks_in(slot);
  const bool are_finished = std::all_of(tasks.begin(), tasks.end(), [&](task_index task) {
    return graph_.current(task).state == task_state::finished && !to_restart_.contains(task);
  });
  if (are_finished)
    actions_.emplace_back(release_slots{{slot}});
}

void job_scheduler::on_checkpoint_awaited(const execution_attempt_id& attempt) {
  if (const auto task = graph_.find(attempt))
    graph_.note_checkpoint_awaited(*task);
}

void job_scheduler::change_job(job_state to) {
  const job_state from = graph_.state();
  auto changed = graph_.change_state(to);
  HEADRACE_ASSERT(changed.has_value(), "the scheduler follows the job's life cycle");
  actions_.emplace_back(job_changed{from, to});
}

void job_scheduler::change_task(task_index task, task_state to) {
  auto changed = graph_.change_task_state(task, to);
  HEADRACE_ASSERT(changed.has_value(), "the scheduler follows the task's life cycle");
  actions_.emplace_back(task_changed{task, graph_.current(task).id, to});
}

bool job_scheduler::is_ending() const {
  const job_state state = graph_.state();
  return state == job_state::failing || state == job_state::cancelling || is_over();
}

bool job_scheduler::is_over() const {
  return is_terminal(graph_.state()) || graph_.state() == job_state::suspended;
}

std::vector<scheduler_action> job_scheduler::take_actions() { return std::exchange(actions_, {}); }

} // namespace headrace::scheduler
