#pragma once

#include "libstate/backend/keyed_backend.hpp"

#include <memory>
#include <string_view>

namespace headrace::state {

/// Gives the backend named by `state.backend.type`: "hashmap".
/// @errors bad_option_value  names the nearest known one
result<std::unique_ptr<state_backend>> make_state_backend(std::string_view name);

} // namespace headrace::state
