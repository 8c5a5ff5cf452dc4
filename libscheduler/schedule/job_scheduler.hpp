#pragma once

#include "libscheduler/execution_graph/execution_graph.hpp"
#include "libscheduler/execution_graph/pipelined_region.hpp"
#include "libscheduler/failover/restart_strategy.hpp"
#include "libscheduler/schedule/scheduling_strategy.hpp"
#include "libscheduler/slot/slot_pool.hpp"
#include "libscheduler/slot/slot_sharing.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

namespace headrace::scheduler {

// What a job scheduler wants done.

/// These shared slots need slots: answer by on_slots_assigned or on_slots_unavailable.
struct want_slots {
  std::vector<std::int32_t> shared_slots;
};
/// All tasks of these shared slots have ended and do not start again.
struct release_slots {
  std::vector<std::int32_t> shared_slots;
};
/// Find the state that the tasks start from, and reset the operator coordinators to it: answer by
/// on_restored with the same epoch.
struct restore_tasks {
  std::uint64_t epoch = 0;
  std::vector<task_index> tasks;
  bool is_whole_job = false;
  bool is_first_start = false;
};
/// The task has its slot: send its current attempt there.
struct deploy_task {
  task_index task = 0;
};
/// Tell the task executor of the current attempt to cancel it.
struct cancel_task {
  task_index task = 0;
};
/// Call on_restart_due after the delay.
struct restart_later {
  std::int64_t delay_ms = 0;
};
/// The current attempt of a task entered a state; for those who watch.
struct task_changed {
  task_index task = 0;
  execution_attempt_id attempt;
  task_state state = task_state::created;
};
struct job_changed {
  job_state from = job_state::created;
  job_state to = job_state::created;
};
using scheduler_action = std::variant<want_slots, release_slots, restore_tasks, deploy_task,
                                      cancel_task, restart_later, task_changed, job_changed>;

/// A failure as it was when it was noticed.
struct noted_failure {
  error cause;
  std::optional<task_index> task; ///< the first that failed; none: the whole job
  task_executor_id executor;      ///< where it ran
};

/// Runs one job: which tasks start when, where, again, and when the job has ended. Facts in,
/// actions out (`take_actions`, to be carried out in order). Pure; lives in the job master's turns.
///
///     begin ─→ restore ─→ want slots ─→ deploy ─→ … all finished ─→ finished
///                ↑                                  │ failure
///                └── all ended and delay over ←─ cancel region ─→ restart refused: failing →
///                failed
class job_scheduler {
public:
  /// `random` outlives the scheduler.
  job_scheduler(execution_graph graph, random_source& random);
  job_scheduler(const job_scheduler&) = delete;
  job_scheduler& operator=(const job_scheduler&) = delete;

  void begin();
  /// Ends all tasks, then the job is canceled. Nothing happens when the job is ending already.
  void cancel();
  /// Ends all tasks without waiting for them: a later scheduler runs the job on. Nothing happens
  /// when the job has ended.
  void suspend();

  void on_restored(std::uint64_t epoch, const status& outcome, std::int64_t now_ms);
  void on_slots_assigned(const std::vector<slot_assignment>& assigned);
  void on_slots_unavailable(const error& cause, std::int64_t now_ms);
  void on_deploy_failed(const execution_attempt_id& attempt, const error& cause,
                        std::int64_t now_ms);
  /// A task executor reports. Reports of older attempts and of what is known are dropped.
  /// @errors illegal_transition  the report cannot be true; nothing was changed
  status on_task_state(const execution_attempt_id& attempt, task_state now, const error& failure,
                       std::int64_t now_ms);
  void on_executor_lost(const task_executor_id& executor, const error& cause, std::int64_t now_ms);
  /// A task executor does not know an attempt that it should run.
  void on_task_missing(const execution_attempt_id& attempt, std::int64_t now_ms);
  /// Something that concerns the whole job failed (a coordinator, the tolerance for checkpoints).
  void on_job_failure(const error& cause, std::int64_t now_ms);
  /// As on_job_failure, but without a restart.
  void fail_job(const error& cause);
  void on_restart_due(std::int64_t now_ms);
  void on_checkpoint_awaited(const execution_attempt_id& attempt);

  std::vector<scheduler_action> take_actions();
  /// What failed since the last call.
  std::vector<noted_failure> take_failures() { return std::exchange(failures_, {}); }

  const execution_graph& graph() const { return graph_; }
  const slot_sharing& sharing() const { return sharing_; }
  const error& newest_failure() const { return failure_; }
  std::uint32_t restarts() const { return restarts_; }

private:
  void change_job(job_state to);
  void change_task(task_index task, task_state to);
  void schedule(const std::vector<task_index>& tasks);
  void restore(std::vector<task_index> tasks, bool is_first_start);
  void end_task(task_index task);
  void fail_tasks(const std::vector<task_index>& failed, const error& cause, bool is_whole_job,
                  std::int64_t now_ms);
  void note_failure(const error& cause, const std::vector<task_index>& tasks);
  void give_up(const error& cause);
  void try_restart(std::int64_t now_ms);
  void end_all_tasks();
  void note_ended();
  void release_ended_slots(task_index ended);
  bool is_ending() const;
  bool is_over() const;

  execution_graph graph_;
  pipelined_regions regions_;
  slot_sharing sharing_;
  std::unique_ptr<scheduling_strategy> strategy_;
  std::unique_ptr<restart_strategy> restart_;
  std::vector<scheduler_action> actions_;

  std::set<task_index> to_restart_; // end first, then start again
  std::int64_t restart_at_ms_ = 0;  // not before
  std::uint64_t next_epoch_ = 1;
  struct restoring {
    std::vector<task_index> tasks;
    bool is_first_start = false;
  };
  std::map<std::uint64_t, restoring> restoring_;
  std::map<task_index, std::uint64_t> restored_by_; // the epoch that each created task waits for
  bool was_deployed_ = false;
  error failure_;
  std::vector<noted_failure> failures_;
  std::uint32_t restarts_ = 0;
};

} // namespace headrace::scheduler
