#pragma once

#include "libscheduler/checkpoint/master_hooks.hpp"
#include "libstate/processor/savepoint_reader.hpp"
#include "libactors/base/result.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace headrace::client {

// How `headrace savepoint inspect` prints what is in a savepoint. Pure, but for reading it.

/// What is known of a savepoint.
struct savepoint_summary {
  const state::completed_checkpoint& content;
  std::vector<processor::operator_summary> operators;
  scheduler::master_hook_states hooks;
};

/// All operators and their states, and the master hooks: tables, or one JSON object.
std::string savepoint_as_text(const savepoint_summary& of);
std::string savepoint_as_json(const savepoint_summary& of);

/// The entries of one state of an operator, a JSON object a line, at most so many. What a value
/// does not say as its operator writes it is shown in hex, with why.
/// @errors as savepoint_reader::read
result<std::string> entries_as_json(const processor::savepoint_reader& from,
                                    const processor::operator_summary& of,
                                    const processor::state_summary& state, std::size_t rows_max);

/// Says of a state that none of the operators has which ones there are, and whose keyed state
/// cannot be shown, as it is in the form of a backend.
error no_such_state(const std::string& wanted,
                    const std::vector<processor::operator_summary>& looked_at);

} // namespace headrace::client
