#include "apps/cluster/memory_settings.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <unistd.h>

namespace headrace::cluster {

namespace {

constexpr std::string_view key = "taskmanager.memory.managed.size";
constexpr std::uint64_t managed_percent = 40;

} // namespace

std::uint64_t machine_memory_bytes() {
  const auto pages = ::sysconf(_SC_PHYS_PAGES);
  const auto page_bytes = ::sysconf(_SC_PAGESIZE);
  auto bytes = static_cast<std::uint64_t>(std::max(pages, 0L)) *
               static_cast<std::uint64_t>(std::max(page_bytes, 0L));
  for (const auto* limit :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::uint64_t most = 0;
    if (std::ifstream(limit) >> most && most > 0) // "max" is no number
      bytes = std::min(bytes, most);
  }
  return bytes;
}

std::uint64_t default_managed_memory_bytes(std::uint64_t machine_bytes,
                                           std::int32_t task_managers) {
  return machine_bytes / 100 * managed_percent /
         static_cast<std::uint64_t>(std::max(task_managers, 1));
}

result<std::uint64_t> managed_memory_bytes(const configuration& settings,
                                           std::uint64_t machine_bytes,
                                           std::int32_t task_managers) {
  const auto count = static_cast<std::uint64_t>(std::max(task_managers, 1));
  if (!settings.is_set(key))
    return default_managed_memory_bytes(machine_bytes, task_managers);
  const auto wanted = settings.get_memory_size(key);
  if (wanted > machine_bytes / count)
    return error(errc::bad_option_value, "bad value of option: " + std::string(key) + ", " +
                                             std::to_string(count) + " task managers with " +
                                             std::to_string(wanted) +
                                             " bytes each are more than this machine has: " +
                                             std::to_string(machine_bytes) + " bytes");
  return wanted;
}

std::uint64_t state_memory_bytes(const configuration& settings, std::uint64_t managed_bytes) {
  if (settings.is_set("state.backend.rocksdb.memory.fixed-per-tm"))
    return settings.get_memory_size("state.backend.rocksdb.memory.fixed-per-tm");
  return settings.get_bool("state.backend.rocksdb.memory.managed") ? managed_bytes / 2 : 0;
}

} // namespace headrace::cluster
