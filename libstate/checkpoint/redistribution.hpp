#pragma once

#include "libstate/checkpoint/completed_checkpoint.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::state {

/// An operator of the job that restores.
struct restored_operator {
  operator_id id;
  std::string name;
  std::int32_t parallelism = 1;
  std::int32_t max_parallelism = 128;
  /// Whether the user fixed `max_parallelism`; a derived one gives way to the stored one.
  bool max_parallelism_is_fixed = false;
  std::string uid = {}; ///< that the user gave it; empty: none
};

/// Which state each subtask of each operator restores.
struct restore_assignment {
  struct per_operator {
    std::int32_t max_parallelism = 128;           ///< to run with
    std::vector<operator_subtask_state> subtasks; ///< one a subtask
    byte_string coordinator;
    bool has_coordinator = false;
  };
  std::map<operator_id, per_operator> operators; ///< every operator of the job
  std::vector<std::string> left_out; ///< whose state the job has no operator for, in words
};

/// Deals one operator's state out over another number of subtasks: key groups by range, split lists
/// element by element, union lists whole to each, broadcast one copy to each; in-flight data to all
/// that may have a part of it. A watermark goes where in-flight data stays; else a subtask gets the
/// least of those whose key groups meet its own, or of all where there is no keyed state (none: one
/// of them has none). Pure.
///
/// @param rescales_in_flight  also where the parallelism is the same: another operator's is not
std::vector<operator_subtask_state> redistribute(const operator_state& stored,
                                                 std::int32_t parallelism,
                                                 bool rescales_in_flight = false);

/// Assigns a whole checkpoint to a job. Pure.
/// @errors incompatible_state  another max parallelism; or state of an operator that the job has
///                             not, unless `allow_non_restored_state`: then it is left out
result<restore_assignment> assign_states(const completed_checkpoint& from,
                                         const std::vector<restored_operator>& job,
                                         bool allow_non_restored_state);

} // namespace headrace::state
