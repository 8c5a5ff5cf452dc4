#pragma once

#include "libstate/keyed/state_description.hpp"
#include "libgraph/function/state.hpp"

namespace headrace::state {

/// What a user's function declared, as a backend keeps it: encoded values of any length.
state_description describe_user_state(const graph::state_descriptor& declared, table_kind kind);

} // namespace headrace::state
