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
  using enum schema::TaskState;
  switch (to) {
  case INITIALIZING:
    return from == DEPLOYING;
  case RUNNING:
    return from == INITIALIZING;
  case FINISHED:
    return from == RUNNING;
  case CANCELING:
    return from == DEPLOYING || from == INITIALIZING || from == RUNNING;
  case CANCELED:
    return from == CANCELING;
  case FAILED:
    return from == DEPLOYING || from == INITIALIZING || from == RUNNING || from == CANCELING;
  default:
    return false;
  }
}
constexpr bool is_terminal(task_state state) {
  using enum schema::TaskState;
  return state == FINISHED || state == CANCELED || state == FAILED;
}

} // namespace headrace::task
