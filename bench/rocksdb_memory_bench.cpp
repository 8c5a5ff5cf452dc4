// Holds a state in RocksDB that is larger than its memory, under updates and checkpoints, and says
// each second what the process takes: one JSON line. bench/memory_run.py starts it, records and
// draws. Arguments: megabytes of RocksDB's budget, gigabytes of state, minutes of updates,
// directory for the databases, subtasks (each has a database and a thread); and `strict`, to make
// the cache's limit one.

#include "bench/counting_target.hpp"
#include "bench/large_state.hpp"
#include "libstate/rocksdb/rocksdb_backend.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace headrace::state {
namespace {

using namespace headrace::bench;
using steady = std::chrono::steady_clock;
constexpr std::chrono::seconds checkpoint_interval{30};

double seconds_since(steady::time_point start) {
  return std::chrono::duration<double>(steady::now() - start).count();
}

/// Makes backends of a memory that can be looked into.
class watched_backends final : public state_backend {
public:
  explicit watched_backends(std::uint64_t budget_bytes)
      : memory(std::make_shared<rocksdb_memory>(budget_bytes)) {}
  std::string_view name() const override { return "rocksdb"; }
  result<std::unique_ptr<keyed_backend>> make(keyed_backend_setup setup) override {
    std::unique_ptr<keyed_backend> made =
        std::make_unique<rocksdb_backend>(std::move(setup), memory);
    return made;
  }
  const std::shared_ptr<rocksdb_memory> memory;
};

struct progress {
  std::atomic<std::uint64_t> filled_bytes = 0;
  std::atomic<std::uint64_t> updates = 0;
  std::atomic<std::uint64_t> checkpoints = 0;
  std::atomic<std::uint64_t> size_bytes = 0;
  std::atomic<bool> is_filled = false;
};

void run_subtask(state_backend& maker, const std::string& directory, key_group_range groups,
                 std::uint64_t keys, const std::atomic<bool>& is_over, progress& of) {
  large_state state(maker, directory, groups, keys);
  state.fill([&](std::uint64_t bytes) { of.filled_bytes = bytes; });
  of.is_filled = true;
  auto checkpointed = steady::now();
  while (!is_over) {
    of.updates += state.update_some();
    if (steady::now() - checkpointed < checkpoint_interval)
      continue;
    checkpointed = steady::now();
    of.size_bytes = state.backend().size_bytes();
    const auto id = static_cast<checkpoint_id>(++of.checkpoints);
    counting_target target;
    static_cast<void>(take(take(state.backend().snapshot(id))->run(target)));
    state.backend().notify_completed(id);
  }
}

/// What the cache takes at most, looked at all the time.
class cache_watch {
public:
  explicit cache_watch(const rocksdb::Cache& cache) : cache_(cache) {}
  ~cache_watch() {
    is_over_ = true;
    watching_.join();
  }
  struct most {
    std::size_t bytes = 0;
    std::size_t pinned_bytes = 0;
  };
  most whole() const { return {bytes_, pinned_bytes_}; }

private:
  void watch() {
    while (!is_over_) {
      bytes_ = std::max(bytes_.load(), cache_.GetUsage());
      pinned_bytes_ = std::max(pinned_bytes_.load(), cache_.GetPinnedUsage());
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
  const rocksdb::Cache& cache_;
  std::atomic<std::size_t> bytes_ = 0;
  std::atomic<std::size_t> pinned_bytes_ = 0;
  std::atomic<bool> is_over_ = false;
  std::thread watching_{[this] { watch(); }};
};

double resident_mb() {
  unsigned long long pages = 0;
  unsigned long long resident = 0;
  if (auto* from = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(from, "%llu %llu", &pages, &resident) != 2)
      resident = 0;
    std::fclose(from);
  }
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1U << 20U);
}

void run(std::uint64_t budget_mb, double gigabytes, double minutes, const std::string& directory,
         std::int32_t subtasks, bool is_strict) {
  watched_backends maker(budget_mb << 20U);
  maker.memory->cache()->SetStrictCapacityLimit(is_strict);
  const cache_watch watch(*maker.memory->cache());
  const auto keys = static_cast<std::uint64_t>(gigabytes * 1e9) / large_state::value_bytes;
  std::atomic<bool> is_over = false;
  std::vector<progress> all(static_cast<std::size_t>(subtasks));
  std::vector<std::thread> threads;
  for (std::int32_t i = 0; i < subtasks; ++i)
    threads.emplace_back([&, i] {
      run_subtask(maker, directory + "/" + std::to_string(i),
                  graph::key_groups_of(i, 128, subtasks), keys, is_over,
                  all[static_cast<std::size_t>(i)]);
    });
  const auto start = steady::now();
  double filled_at = -1;
  for (int second = 1; !is_over; ++second) {
    std::this_thread::sleep_until(start + std::chrono::seconds(second));
    double filled = 0;
    double size = 0;
    std::uint64_t updates = 0;
    std::uint64_t checkpoints = 0;
    bool is_filled = true;
    for (const auto& one : all) {
      filled += static_cast<double>(one.filled_bytes);
      size += static_cast<double>(one.size_bytes);
      updates += one.updates;
      checkpoints += one.checkpoints;
      is_filled = is_filled && one.is_filled;
    }
    if (is_filled && filled_at < 0)
      filled_at = seconds_since(start);
    const auto heap = mallinfo2();
    const auto most = watch.whole();
    std::printf("{\"phase\":\"%s\",\"seconds\":%.1f,\"rss_mb\":%.1f,\"cache_mb\":%.1f,"
                "\"cache_limit_mb\":%.1f,\"cache_most_mb\":%.2f,\"pinned_most_mb\":%.1f,"
                "\"write_buffers_mb\":%.1f,\"malloc_used_mb\":%.1f,\"malloc_held_mb\":%.1f,"
                "\"filled_gb\":%.2f,\"size_gb\":%.2f,\"updates\":%llu,"
                "\"checkpoints\":%llu}\n",
                is_filled ? "update" : "fill", seconds_since(start) - (is_filled ? filled_at : 0.0),
                resident_mb(), static_cast<double>(maker.memory->cache()->GetUsage()) / (1U << 20U),
                static_cast<double>(maker.memory->cache()->GetCapacity()) / (1U << 20U),
                static_cast<double>(most.bytes) / (1U << 20U),
                static_cast<double>(most.pinned_bytes) / (1U << 20U),
                static_cast<double>(maker.memory->write_buffers()->memory_usage()) / (1U << 20U),
                static_cast<double>(heap.uordblks + heap.hblkhd) / (1U << 20U),
                static_cast<double>(heap.arena + heap.hblkhd) / (1U << 20U), filled / 1e9,
                size / 1e9, static_cast<unsigned long long>(updates),
                static_cast<unsigned long long>(checkpoints));
    std::fflush(stdout);
    is_over = is_filled && seconds_since(start) - filled_at >= minutes * 60;
  }
  for (auto& one : threads)
    one.join();
}

} // namespace
} // namespace headrace::state

int main(int count, char** arguments) {
  const bool is_strict = count == 7 && std::string_view(arguments[6]) == "strict";
  if (count != 6 && !is_strict) {
    std::fprintf(stderr, "usage: rocksdb_memory_bench BUDGET_MB STATE_GB MINUTES DIRECTORY "
                         "SUBTASKS [strict]\n");
    return 2;
  }
  std::filesystem::create_directories(arguments[4]);
  headrace::state::run(std::strtoull(arguments[1], nullptr, 10), std::strtod(arguments[2], nullptr),
                       std::strtod(arguments[3], nullptr), arguments[4],
                       static_cast<std::int32_t>(std::strtol(arguments[5], nullptr, 10)),
                       is_strict);
}
