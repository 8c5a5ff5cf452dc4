#pragma once

#include "libstate/handle/state_handle.hpp"
#include "libactors/base/result.hpp"

#include <capnp/any.h>

namespace headrace::state {

/// Writes a subtask's state into a message, as bytes of libstate's stored form.
void write_subtask_state(capnp::AnyPointer::Builder out, const task_state_snapshot& state);
/// None is an empty one. @errors malformed_message
result<task_state_snapshot> read_subtask_state(capnp::AnyPointer::Reader in);

} // namespace headrace::state
