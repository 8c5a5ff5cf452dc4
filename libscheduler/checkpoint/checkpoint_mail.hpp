#pragma once

#include "libscheduler/checkpoint/checkpoint_plan.hpp"
#include "libscheduler/execution_graph/job_mail.hpp"
#include "libstate/handle/state_handle.hpp"
#include "libgraph/data/savepoint_order.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/error.hpp"
#include "libactors/message/message.hpp"
#include "libactors/rpc/actor_ref.hpp"
#include "schema/checkpoint.capnp.h"
#include "schema/job.capnp.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headrace::scheduler {

// What a job master tells its checkpoint coordinator.

/// The operators' coordinators, by operator. First, before any other.
struct coordinators_known {
  static constexpr auto kind = job_mail_kind::coordinators_known;
  std::map<operator_id, actors::actor_ref> coordinators;
};
/// Tasks start, or start again: find what they restore. Answered by restore_done.
struct restore_requested {
  static constexpr auto kind = job_mail_kind::restore_requested;
  std::uint64_t epoch = 0;
  bool is_first_start = false;
};
struct plan_made {
  static constexpr auto kind = job_mail_kind::plan_made;
  std::shared_ptr<const result<checkpoint_plan>> plan;
};
struct task_ended {
  static constexpr auto kind = job_mail_kind::task_ended;
  execution_attempt_id attempt;
  bool has_finished = false; ///< else it failed, or was canceled
};
struct checkpoint_acknowledged {
  static constexpr auto kind = job_mail_kind::checkpoint_acknowledged;
  message<schema::AcknowledgeCheckpoint> what;
};
struct checkpoint_declined {
  static constexpr auto kind = job_mail_kind::checkpoint_declined;
  message<schema::DeclineCheckpoint> what;
};
/// A task has read everything and waits.
struct checkpoint_awaited {
  static constexpr auto kind = job_mail_kind::checkpoint_awaited;
  bool are_all_waiting = false;
};
/// Take one as soon as the tasks can. Answered by requested_checkpoint_ended.
struct checkpoint_requested {
  static constexpr auto kind = job_mail_kind::checkpoint_requested;
};
/// Take a savepoint as soon as the tasks can. Answered by savepoint_ended.
struct savepoint_wanted {
  static constexpr auto kind = job_mail_kind::savepoint_wanted;
  std::uint64_t number = 0; ///< of the job master's choice
  graph::savepoint_order order;
};
/// How did the checkpoints go? Answered by statistics_told.
struct statistics_wanted {
  static constexpr auto kind = job_mail_kind::statistics_wanted;
};
/// No more checkpoints. Answered by checkpoints_stopped.
struct job_over {
  static constexpr auto kind = job_mail_kind::job_over;
};
/// The end of the job is lasting: keep or remove the checkpoints. Answered by cleaned_up.
struct checkpoints_released {
  static constexpr auto kind = job_mail_kind::checkpoints_released;
  bool keeps_checkpoints = false;
  bool is_over = false; ///< no other job manager runs the job on
};

// What a checkpoint coordinator tells its job master.

/// What the tasks of a job restore. A value.
struct restored_job {
  checkpoint_id checkpoint = 0; ///< 0: there is none, all start without state
  struct per_operator {
    std::vector<state::operator_subtask_state> subtasks;
    std::optional<byte_string> coordinator;
  };
  std::map<operator_id, per_operator> operators;
  std::map<vertex_id, std::int32_t> max_parallelism; ///< where it is not the graph's
};
struct restore_done {
  static constexpr auto kind = job_mail_kind::restore_done;
  std::uint64_t epoch = 0;
  std::shared_ptr<const result<restored_job>> outcome;
};
struct plan_wanted {
  static constexpr auto kind = job_mail_kind::plan_wanted;
};
struct checkpoint_progress {
  static constexpr auto kind = job_mail_kind::checkpoint_progress;
  std::uint32_t completed = 0;
  checkpoint_id newest = 0;
  std::string newest_path;
};
/// The checkpoint that was requested is lasting, or has failed.
struct requested_checkpoint_ended {
  static constexpr auto kind = job_mail_kind::requested_checkpoint_ended;
  checkpoint_id checkpoint = 0;
  std::string path;
  error failure; ///< code none: it is lasting
};
/// A savepoint is lasting, or has failed.
struct savepoint_ended {
  static constexpr auto kind = job_mail_kind::savepoint_ended;
  std::uint64_t number = 0;
  checkpoint_id checkpoint = 0;
  graph::savepoint_order order;
  error failure;                   ///< code none: it is lasting
  std::vector<planned_task> tasks; ///< that took part
  bool may_be_repeated = false;    ///< it failed only as a task has finished meanwhile
};
/// The job is to restart.
struct too_many_checkpoint_failures {
  static constexpr auto kind = job_mail_kind::too_many_checkpoint_failures;
  error reason;
};
struct statistics_told {
  static constexpr auto kind = job_mail_kind::statistics_told;
  message<schema::CheckpointOverview> overview;
};
/// No checkpoint is under way any more, and none will be.
struct checkpoints_stopped {
  static constexpr auto kind = job_mail_kind::checkpoints_stopped;
  message<schema::CheckpointOverview> overview;
};
struct cleaned_up {
  static constexpr auto kind = job_mail_kind::cleaned_up;
};

} // namespace headrace::scheduler
