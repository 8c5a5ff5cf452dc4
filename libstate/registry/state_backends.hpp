#pragma once

#include "libstate/backend/keyed_backend.hpp"

#include <cstdint>
#include <memory>
#include <string_view>

namespace headrace::state {

/// Gives the backend named by `state.backend.type`: "hashmap" or "rocksdb".
/// @param memory_bytes  of all its instances together, where it keeps memory of its own; 0: a
///                      default
/// @param read_threads  that read for its subtasks where reads wait for the disk; 0: none
/// @errors bad_option_value  names the nearest known one
result<std::unique_ptr<state_backend>> make_state_backend(std::string_view name,
                                                          std::uint64_t memory_bytes = 0,
                                                          std::int32_t read_threads = 0);

} // namespace headrace::state
