#pragma once

#include "libactors/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace headrace::scheduler {

/// Where an attempt to run a subtask is in its life. The numbers are those of schema::TaskState.
enum class task_state : std::uint8_t {
  created,
  scheduled,    ///< waits for its slot
  deploying,    ///< on its way to the task executor
  initializing, ///< restores and opens
  running,
  finished,
  canceling,
  canceled,
  failed,
};
inline constexpr std::size_t task_state_count = 9;

/// Where a job is in its life. The numbers are those of schema::JobState.
enum class job_state : std::uint8_t {
  created,
  running,
  failing, ///< ends its tasks, then failed
  failed,
  cancelling,
  canceled,
  finished,
  restarting,
  suspended, ///< this master gives the job up without ending it
  reconciling,
};
inline constexpr std::size_t job_state_count = 10;

std::string_view name_of(task_state state);
std::string_view name_of(job_state state);
/// Finished, canceled or failed: nothing follows for the attempt.
bool is_terminal(task_state state);
/// Failed, canceled or finished: nothing follows for the job.
bool is_terminal(job_state state);
/// Deploying up to canceling: a task executor knows the attempt.
bool is_deployed(task_state state);

/// @errors illegal_transition  names both states
status check_transition(task_state from, task_state to);
/// @errors illegal_transition  names both states
status check_transition(job_state from, job_state to);

} // namespace headrace::scheduler
