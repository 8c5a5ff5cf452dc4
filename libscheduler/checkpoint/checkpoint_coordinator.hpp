#pragma once

#include "libscheduler/checkpoint/checkpoint_plan.hpp"
#include "libscheduler/checkpoint/checkpoint_statistics.hpp"
#include "libstate/checkpoint/completed_checkpoint.hpp"
#include "libgraph/data/savepoint_order.hpp"
#include "libgraph/job_graph/job_graph.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace headrace::scheduler {

/// A savepoint that somebody asks for. A value.
struct savepoint_request {
  std::uint64_t number = 0; ///< of the one who asks: comes back in answer_savepoint
  std::shared_ptr<const graph::savepoint_order> order;
};

// What a checkpoint coordinator wants done. `savepoint` is null for a checkpoint.

/// Plan over the tasks as they are: answer by on_plan.
struct plan_tasks {};
/// Make room for the checkpoint: answer by on_prepared.
struct prepare_storage {
  checkpoint_id checkpoint = 0;
  std::shared_ptr<const graph::savepoint_order> savepoint;
};
/// Ask every operator coordinator for its snapshot: answer by on_coordinator_snapshot.
struct snapshot_coordinators {
  checkpoint_id checkpoint = 0;
};
/// Call the job's master hooks: answer by on_hooks. Only where there are any.
struct trigger_hooks {
  checkpoint_id checkpoint = 0;
};
/// Trigger these tasks, then let operator coordinators speak again.
struct trigger_tasks {
  checkpoint_id checkpoint = 0;
  std::int64_t timestamp_ms = 0;
  std::vector<planned_task> tasks;
  std::shared_ptr<const graph::savepoint_order> savepoint;
};
/// Write the manifest: answer by on_stored.
struct store_checkpoint {
  std::shared_ptr<state::completed_checkpoint> checkpoint;
  std::shared_ptr<const graph::savepoint_order> savepoint;
};
/// The checkpoint is lasting: tell the tasks and operator coordinators. Not of a savepoint that the
/// job outlives: no restart begins with it, so nothing is made final for it.
struct announce_completed {
  checkpoint_id checkpoint = 0;
  std::vector<planned_task> tasks;
};
/// The checkpoint is no more: tell the tasks, let operator coordinators speak, clean up.
struct announce_aborted {
  checkpoint_id checkpoint = 0;
  std::vector<planned_task> tasks;
  error reason;
  std::shared_ptr<const graph::savepoint_order> savepoint;
};
/// The requested checkpoint is lasting, or has failed.
struct answer_request {
  checkpoint_id checkpoint = 0;
  error failure; ///< code none: it is lasting
};
/// The savepoint is lasting, or has failed.
struct answer_savepoint {
  std::uint64_t number = 0;
  checkpoint_id checkpoint = 0;
  std::shared_ptr<const graph::savepoint_order> order;
  error failure;                   ///< code none: it is lasting
  std::vector<planned_task> tasks; ///< that took part
  /// It failed only as a task has finished meanwhile: with another directory, as late parts of
  /// this one may still be written, it may be asked for again.
  bool may_be_repeated = false;
};
/// More checkpoints failed in a row than are tolerated; or a savepoint failed for which the sources
/// had ended already.
struct give_up {
  error reason;
};
using checkpoint_action =
    std::variant<plan_tasks, prepare_storage, snapshot_coordinators, trigger_hooks, trigger_tasks,
                 store_checkpoint, announce_completed, announce_aborted, answer_request,
                 answer_savepoint, give_up>;

/// Takes a job's checkpoints and savepoints, one at a time, but for those that come by themselves:
/// of them as many as the job allows, each begun once the tasks of the one before are triggered.
/// With one that completes older ones end, and with one that fails, for tasks forget them with it.
/// Facts and time in, actions out. Pure; lives in its endpoint's turns.
///
///     due → plan → prepare storage → snapshot coordinators → call hooks → trigger
///                                                          → acknowledgements → store
///                       └──── declined, expired, a task ended: aborted ────┘             →
///                       completed
class checkpoint_coordinator {
public:
  static constexpr std::size_t waiting_savepoints_max = 16;
  /// How long the next one waits for tasks that finish with a complete one. Begun at once it would
  /// be aborted by their end; a task whose consumers are slow may take much longer.
  static constexpr std::int64_t finish_patience_ms = 1000;

  /// `coordinators`: the operators that have a coordinator.
  checkpoint_coordinator(std::shared_ptr<const graph::job_graph> job,
                         std::vector<operator_id> coordinators, std::int64_t now_ms);

  /// Begins a checkpoint when one is due, ends the pending one when it is too old.
  void poll(std::int64_t now_ms);
  /// When `poll` may have something to do; nothing: no time matters.
  std::optional<std::int64_t> next_deadline_ms() const;
  void note_restored(std::shared_ptr<const state::completed_checkpoint> from, std::int64_t now_ms) {
    statistics_.restored(from->id, from->kind == state::checkpoint_kind::savepoint, from->directory,
                         now_ms);
    newest_ = std::move(from);
  }
  /// Checkpoints that follow have ids above this one.
  void continue_after(checkpoint_id checkpoint);
  /// A task waits for a checkpoint: one more is begun as soon as may be when all triggered ones do.
  void on_awaited(bool are_all_waiting, std::int64_t now_ms);

  /// One more is begun as soon as may be, after a pending one: answered by answer_request.
  void request(std::int64_t now_ms);
  /// The same with a savepoint: answered by answer_savepoint. It may take as long as a checkpoint,
  /// its waiting included. It counts for nothing else: neither as a failure, nor for the next
  /// checkpoint's time. With one that ends the job, no more checkpoints are begun.
  void request(savepoint_request what, std::int64_t now_ms);
  /// Tasks start again from the newest complete checkpoint. What they acknowledged for a later one
  /// is not what they do now: it is aborted, unless it is being stored. A savepoint that was to end
  /// the job has not.
  void on_restart(std::int64_t now_ms);

  void on_plan(const result<checkpoint_plan>& planned, std::int64_t now_ms);
  void on_prepared(checkpoint_id checkpoint, const status& outcome, std::int64_t now_ms);
  void on_coordinator_snapshot(checkpoint_id checkpoint, const operator_id& source,
                               result<byte_string> snapshot, std::int64_t now_ms);
  /// What the master hooks have to be stored, encoded. Of a checkpoint that does not wait for it
  /// (any more): dropped.
  void on_hooks(checkpoint_id checkpoint, result<byte_string> states, std::int64_t now_ms);
  bool awaits_hooks(checkpoint_id checkpoint) { return find(checkpoint, stage::hooks) != nullptr; }
  /// An acknowledgement of a checkpoint that is not pending is dropped.
  void on_acknowledged(checkpoint_id checkpoint, const execution_attempt_id& attempt,
                       state::task_state_snapshot state, std::int64_t now_ms,
                       const snapshot_figures& figures = {});
  void on_declined(checkpoint_id checkpoint, const execution_attempt_id& attempt,
                   const error& reason, std::int64_t now_ms);
  /// A task finished (`has_finished`), failed or was canceled.
  void on_task_ended(const execution_attempt_id& attempt, bool has_finished, std::int64_t now_ms);
  void on_stored(checkpoint_id checkpoint, const status& outcome, std::int64_t now_ms);

  /// Ends the pending one, begins no more.
  void stop(const error& reason);

  std::vector<checkpoint_action> take_actions();

  bool is_storing() const;
  std::uint32_t completed_count() const { return statistics_.completed_count(); }
  const checkpoint_statistics& statistics() const { return statistics_; }

private:
  enum class stage : std::uint8_t { planning, preparing, coordinators, hooks, tasks, storing };
  struct pending {
    checkpoint_id id = 0;
    stage at = stage::planning;
    bool is_requested = false;
    std::optional<savepoint_request> savepoint;
    bool may_be_repeated = false; ///< the savepoint, see answer_savepoint
    std::int64_t started_ms = 0;  // of the coordinator's clock
    std::int64_t deadline_ms = 0;
    checkpoint_plan plan;
    std::set<operator_id> missing_coordinators;
    std::set<execution_attempt_id> missing_tasks;
    std::shared_ptr<state::completed_checkpoint> result;
  };
  struct waiting_savepoint {
    savepoint_request what;
    std::int64_t deadline_ms = 0;
  };
  /// Null: it is not there.
  pending* find(checkpoint_id checkpoint, stage at);
  /// Without an interval, only final ones are taken.
  bool is_periodic() const { return job_->checkpoints.interval_ms > 0; }
  /// Whether one is to begin without waiting for its time.
  bool is_wanted_now() const {
    return is_final_wanted_ || is_requested_ || !waiting_savepoints_.empty();
  }
  bool may_begin() const;
  /// Whether a task is among them that is about to finish.
  bool awaits_end_of(const checkpoint_plan& planned, std::int64_t now_ms) const;
  /// Whether a further one may begin while these are under way.
  bool may_begin_beside() const;
  static std::shared_ptr<const graph::savepoint_order> order_of(const pending& one) {
    return one.savepoint ? one.savepoint->order : nullptr;
  }
  /// Whether event time has ended for a savepoint, and its sources with it.
  static bool has_drained(const pending& one) {
    return one.savepoint && one.savepoint->order->stop == graph::savepoint_stop::drain &&
           one.at >= stage::tasks;
  }
  static bool is_stop(const pending& one) {
    return one.savepoint && one.savepoint->order->stop != graph::savepoint_stop::none;
  }
  bool has_stop_pending() const;
  std::int64_t due_ms() const;
  void expire_waiting(std::int64_t now_ms);
  void refuse_waiting(const error& reason);
  void answer(const savepoint_request& what, checkpoint_id checkpoint, error failure,
              bool may_be_repeated = false);
  void begin(std::int64_t now_ms);
  void call_hooks(pending& one, std::int64_t now_ms);
  void trigger(pending& one, std::int64_t now_ms);
  void end(checkpoint_id checkpoint, std::int64_t now_ms);
  /// With all older ones whose tasks are under way. `is_failure`: counts against the tolerance.
  void abort(checkpoint_id checkpoint, error reason, bool is_failure, std::int64_t now_ms);
  void abort_one(pending& one, const error& reason, std::int64_t now_ms);
  std::shared_ptr<state::completed_checkpoint> describe(const pending& one) const;
  /// Those older than this one, whose tasks are under way.
  void subsume(checkpoint_id checkpoint, const error& reason, std::int64_t now_ms);
  static void add_state(pending& to, const execution_attempt_id& attempt,
                        state::task_state_snapshot state);

  std::shared_ptr<const graph::job_graph> job_;
  std::vector<operator_id> coordinators_;
  std::shared_ptr<const state::completed_checkpoint> newest_; ///< null: none yet
  checkpoint_id next_id_ = 1;
  std::int64_t periodic_ms_ = 0; // when the next one of those that come by themselves is due
  std::int64_t wanted_ms_ = 0;   // when one that is wanted may begin
  bool is_final_wanted_ = false;
  bool is_requested_ = false; // and not yet begun
  std::deque<waiting_savepoint> waiting_savepoints_;
  bool is_stopped_ = false;
  bool is_ending_ = false;                   // with a savepoint that is lasting
  std::deque<pending> pending_;              // by rising ids; only the last may have no tasks yet
  std::set<execution_attempt_id> finishing_; // with a checkpoint that is complete
  std::int64_t finishing_until_ms_ = 0;      // and then nobody waits for them
  std::int32_t failures_ = 0;                // in a row
  checkpoint_statistics statistics_;
  std::vector<checkpoint_action> actions_;
};

} // namespace headrace::scheduler
