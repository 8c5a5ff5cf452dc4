#pragma once

#include "libstate/handle/state_handle.hpp"
#include "libactors/base/result.hpp"
#include "libactors/message/message.hpp"

#include <capnp/any.h>

namespace headrace::scheduler {

/// Writes what a subtask restores into TaskDeployment.state.
void write_subtask_state(capnp::AnyPointer::Builder out, const state::task_state_snapshot& state);
/// Reads AcknowledgeCheckpoint.state; none is an empty one. @errors malformed_message
result<state::task_state_snapshot> read_subtask_state(capnp::AnyPointer::Reader in);

} // namespace headrace::scheduler
