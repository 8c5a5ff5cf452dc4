#pragma once

#include "schema/task.capnp.h"

namespace headrace::task {

using task_state = schema::TaskState;

/// Whether a task may go from one state to the other on its executor.
///
///     deploying ─▶ initializing ─▶ running ─▶ finished
///         └──────────────┴────────────┴──▶ failed
///         └──────────────┴────────────┴──▶ canceling ─▶ canceled (or failed)
constexpr bool is_transition(task_state from, task_state to) {
  switch (to) {
  case task_state::INITIALIZING:
    return from == task_state::DEPLOYING;
  case task_state::RUNNING:
    return from == task_state::INITIALIZING;
  case task_state::FINISHED:
    return from == task_state::RUNNING;
  case task_state::CANCELING:
    return from == task_state::DEPLOYING || from == task_state::INITIALIZING ||
           from == task_state::RUNNING;
  case task_state::CANCELED:
    return from == task_state::CANCELING;
  case task_state::FAILED:
    return from == task_state::DEPLOYING || from == task_state::INITIALIZING ||
           from == task_state::RUNNING || from == task_state::CANCELING;
  default:
    return false;
  }
}
constexpr bool is_terminal(task_state state) {
  return state == task_state::FINISHED || state == task_state::CANCELED ||
         state == task_state::FAILED;
}

} // namespace headrace::task
