// Measures what subtasks cost that have nothing to do: jobs of a source, a keyed sum and a sink,
// all in this process. Prints one JSON line.
// Arguments: jobs (default 50), parallelism (default 100), seconds (default 10).

#include "bench/local_cluster.hpp"
#include "libgraph/api/headrace.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace headrace::bench {

struct pair_row {
  std::int64_t key = 0;
  std::int64_t value = 0;
};
HEADRACE_STRUCT(pair_row, key, value)

namespace {

void measure(int jobs, std::int32_t parallelism, int seconds) {
  local_cluster cluster(jobs * parallelism);
  const auto before_mb = resident_megabytes();
  const auto began = std::chrono::steady_clock::now();
  std::vector<job_id> running;
  for (int i = 0; i < jobs; ++i) {
    api::environment env;
    env.set_job_name("idle " + std::to_string(i));
    env.from_source(api::generator_source<pair_row>([](std::uint64_t) { return pair_row{}; },
                                                    api::unlimited, 1e-3))
        .key_by(&pair_row::key)
        .sum(&pair_row::value)
        .sink_to(api::any_sink{"blackhole", {}});
    running.push_back(cluster.submit(env, parallelism));
  }
  for (const auto& job : running)
    cluster.await_running(job);
  const auto started = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::seconds(3)); // until all is quiet
  const auto cpu_began = process_cpu_seconds();
  const auto quiet = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  const auto cpu = process_cpu_seconds() - cpu_began;
  const auto wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - quiet).count();
  const auto subtasks = jobs * parallelism * 2;
  const auto resident_mb = resident_megabytes();
  std::printf("{\"bench\":\"idle\",\"subtasks\":%d,\"jobs\":%d,\"start_seconds\":%.2f,"
              "\"resident_mb\":%.0f,\"kb_a_subtask\":%.1f,\"seconds\":%.1f,\"core_share\":%.4f}\n",
              subtasks, jobs, std::chrono::duration<double>(started - began).count(), resident_mb,
              (resident_mb - before_mb) * 1e3 / subtasks, wall, cpu / wall);
  std::fflush(stdout);
  for (const auto& job : running)
    cluster.cancel(job);
}

} // namespace
} // namespace headrace::bench

int main(int count, char** arguments) {
  const auto argument = [&](int index, int otherwise) {
    return count > index ? std::atoi(arguments[index]) : otherwise;
  };
  headrace::bench::measure(argument(1, 50), argument(2, 100), argument(3, 10));
}
