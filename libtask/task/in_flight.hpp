#pragma once

#include "libtask/checkpoint/begun_checkpoints.hpp"
#include "libtask/task/task_description.hpp"
#include "libstate/channel/channel_state.hpp"
#include "libactors/base/file_system.hpp"

#include <cstdint>
#include <vector>

namespace headrace::task {

/// Names what was overtaken at a subtask by edges and subtasks, as it is stored.
std::vector<state::channel_content> describe_in_flight(const task_description& task,
                                                       in_flight_data in_flight);

/// What was stored of a channel's end.
struct stored_in_flight {
  state::channel_content content;
  std::int32_t rescaled_from = -1; ///< see state::in_flight_handle
};

/// Finds the places of what was stored. At another parallelism rows by key are those of the
/// subtask's key groups, others come from every so many-th subtask; rows that were to be sent are
/// dealt out anew. Watermarks are left out then: they come again, and hold for one channel only.
/// @errors incompatible_state  an edge that the task has not, or has with other columns; or one on
///         which all consumers get all rows, at another parallelism
result<in_flight_data> place_in_flight(const task_description& task,
                                       std::vector<stored_in_flight> stored);

/// Reads what is stored of a subtask. May block. @errors corrupt_snapshot, storage_failed
result<std::vector<stored_in_flight>> read_in_flight(file_system& files,
                                                     const state::task_state_snapshot& from);

} // namespace headrace::task
