// Measures checkpoints of a large state in RocksDB: how long the subtask stands still for one, and
// how many bytes one writes after a part of the rows has changed. Prints one JSON line a
// measurement. Arguments: gigabytes of state (default 10), directory for the database (default: a
// temporary one; it is removed), percentages of changed rows (default: 0.1 1 10 100).

#include "bench/counting_target.hpp"
#include "bench/large_state.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace headrace::state {
namespace {

using namespace headrace::bench;
using steady = std::chrono::steady_clock;

double ms_since(steady::time_point start) {
  return std::chrono::duration<double, std::milli>(steady::now() - start).count();
}

class measured_state {
public:
  measured_state(double gigabytes, const std::string& directory)
      : maker_(take(make_state_backend("rocksdb"))),
        state_(*maker_, directory, {0, 128},
               static_cast<std::uint64_t>(gigabytes * 1e9) / large_state::value_bytes) {
    const auto start = steady::now();
    state_.fill([](std::uint64_t) {});
    std::printf("{\"bench\":\"rocksdb_checkpoint\",\"name\":\"fill\",\"rows\":%llu,"
                "\"seconds\":%.0f}\n",
                static_cast<unsigned long long>(state_.rows()), ms_since(start) / 1000);
    const auto full = checkpoint();
    std::printf("{\"bench\":\"rocksdb_checkpoint\",\"name\":\"first\",\"state_bytes\":%llu,"
                "\"written_bytes\":%llu,\"files\":%d}\n",
                static_cast<unsigned long long>(state_.backend().size_bytes()),
                static_cast<unsigned long long>(full.bytes), full.files);
    std::fflush(stdout);
  }

  /// Checkpoints after so many batches of updates each: write buffers hold as much as they may.
  void measure_synchronous_part(int checkpoints, int batches) {
    std::vector<double> wall;
    std::vector<double> cpu;
    for (int i = 0; i < checkpoints; ++i) {
      for (int batch = 0; batch < batches; ++batch)
        state_.update_some();
      const auto start = steady::now();
      const auto start_cpu = cpu_ms();
      auto job = take(state_.backend().snapshot(++checkpoints_));
      cpu.push_back(cpu_ms() - start_cpu);
      wall.push_back(ms_since(start));
      counting_target target;
      static_cast<void>(take(job->run(target)));
      state_.backend().notify_completed(checkpoints_);
    }
    std::sort(wall.begin(), wall.end());
    std::sort(cpu.begin(), cpu.end());
    std::printf("{\"bench\":\"rocksdb_checkpoint\",\"name\":\"synchronous_part\","
                "\"checkpoints\":%d,\"mb_before_each\":%.0f,\"ms_p50\":%.3f,\"ms_p90\":%.3f,"
                "\"ms_max\":%.3f,\"cpu_ms_p50\":%.3f,\"cpu_ms_max\":%.3f}\n",
                checkpoints,
                batches * static_cast<double>(large_state::update_rows * large_state::value_bytes) /
                    1e6,
                wall[wall.size() / 2], wall[wall.size() * 9 / 10], wall.back(), cpu[cpu.size() / 2],
                cpu.back());
    std::fflush(stdout);
  }

  /// What a checkpoint writes at once after the change, and what the next ones write because of it,
  /// until no compaction makes new ones.
  void measure_change(double percent) {
    settle();
    state_.update_each(static_cast<std::uint64_t>(std::max(1.0, 100 / percent)));
    const auto at_once = checkpoint();
    const auto later = settle();
    const auto changed =
        static_cast<double>(state_.rows()) * large_state::value_bytes * percent / 100;
    std::printf("{\"bench\":\"rocksdb_checkpoint\",\"name\":\"incremental\",\"changed_percent\":%g,"
                "\"changed_mb\":%.1f,\"written_mb\":%.1f,\"files\":%d,\"later_mb\":%.1f,"
                "\"written_to_changed\":%.2f,\"with_later_to_changed\":%.2f}\n",
                percent, changed / 1e6, static_cast<double>(at_once.bytes) / 1e6, at_once.files,
                static_cast<double>(later) / 1e6, static_cast<double>(at_once.bytes) / changed,
                static_cast<double>(at_once.bytes + later) / changed);
    std::fflush(stdout);
  }

private:
  struct written {
    std::uint64_t bytes = 0;
    int files = 0;
  };
  written checkpoint() {
    counting_target target;
    const auto job = take(state_.backend().snapshot(++checkpoints_));
    static_cast<void>(take(job->run(target)));
    state_.backend().notify_completed(checkpoints_);
    return {target.bytes, target.files};
  }
  /// @returns the bytes that checkpoints wrote until none wrote a table file
  std::uint64_t settle() {
    std::uint64_t bytes = 0;
    for (int quiet = 0; quiet < 3;) {
      std::this_thread::sleep_for(std::chrono::seconds(2));
      const auto more = checkpoint();
      bytes += more.bytes;
      quiet = more.files == 0 ? quiet + 1 : 0;
    }
    return bytes;
  }

  std::unique_ptr<state_backend> maker_;
  large_state state_;
  checkpoint_id checkpoints_ = 0;
};

} // namespace
} // namespace headrace::state

int main(int count, char** arguments) {
  using namespace headrace;
  const auto gigabytes = count > 1 ? std::strtod(arguments[1], nullptr) : 10.0;
  const auto directory =
      count > 2 ? std::string(arguments[2])
                : std::filesystem::temp_directory_path().string() + "/headrace-checkpoint-bench";
  std::vector<double> percents = {0.1, 1, 10, 100};
  if (count > 3) {
    percents.clear();
    for (int i = 3; i < count; ++i)
      percents.push_back(std::strtod(arguments[i], nullptr));
  }
  std::filesystem::create_directories(directory);
  {
    state::measured_state state(gigabytes, directory + "/state");
    state.measure_synchronous_part(20, 8);
    state.measure_synchronous_part(20, 80);
    for (const auto percent : percents)
      state.measure_change(percent);
  }
  std::filesystem::remove_all(directory);
}
