#pragma once

#include "libtask/operator/stored_value.hpp"

#include <span>

namespace headrace::task {

/// What reads the values of a state that an operator of SQL has for itself. Empty: nothing does; it
/// is a function's, or says nothing but bytes (docs/savepoints.md tells which).
/// @param all  the operator's states
stored_reader find_stored_reader(const state::state_description& state,
                                 std::span<const state::state_description> all);

} // namespace headrace::task
