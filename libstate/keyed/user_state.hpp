#pragma once

#include "libstate/keyed/state_description.hpp"
#include "libgraph/function/state.hpp"
#include "libactors/base/error.hpp"

#include <string>

namespace headrace::state {

/// What a user's function declared, as a backend keeps it: encoded values of any length.
state_description describe_user_state(const graph::state_descriptor& declared, table_kind kind);

/// Tells that a state that has a handle is declared again, with another type or TTL.
error opened_otherwise(const std::string& name);

/// Tells that a state is used where no key is current.
error no_current_key();

} // namespace headrace::state
