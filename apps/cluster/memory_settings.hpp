#pragma once

#include "libactors/base/option.hpp"

#include <cstdint>

namespace headrace::cluster {

/// The memory that this process may use: the machine's, or less when a control group says so.
std::uint64_t machine_memory_bytes();

/// Returns the bytes that each of `task_managers` in this process has when no option says it: its
/// part of 40 % of the machine's memory.
std::uint64_t default_managed_memory_bytes(std::uint64_t machine_bytes, std::int32_t task_managers);

/// Returns the bytes that each of `task_managers` in this process has for state and batches:
/// taskmanager.memory.managed.size, else the default.
/// @errors bad_option_value  all together would take more than the machine has
result<std::uint64_t> managed_memory_bytes(const configuration& settings,
                                           std::uint64_t machine_bytes, std::int32_t task_managers);

/// Returns the bytes that RocksDB has in each task manager: as state.backend.rocksdb.memory.* say;
/// 0: its default. `managed_bytes` is what the task manager has for state and batches; 0: no limit.
std::uint64_t state_memory_bytes(const configuration& settings, std::uint64_t managed_bytes);

} // namespace headrace::cluster
