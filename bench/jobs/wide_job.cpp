// Rows through a chain of keyed exchanges: what bench/cluster_bench.py deploys, kills and restarts.
//
//     headrace run libwide_job.so -- [--vertices N] [--rows-per-second N] [--output DIR]
//       [--checkpoint-interval MS]
//
// Each vertex behind the first (the source) sums by key; the last one writes files to `output`, or
// nothing anywhere.

#include "libgraph/api/headrace.hpp"
#include "libactors/base/ids.hpp"

#include <chrono>

namespace api = headrace::api;

struct pair_row {
  std::int64_t key = 0;
  std::int64_t value = 0;
};
HEADRACE_STRUCT(pair_row, key, value)

HEADRACE_JOB(env) {
  const auto& arguments = env.arguments();
  const auto vertices = arguments.get_int("vertices", 2);
  const auto rows_per_second = static_cast<double>(arguments.get_int("rows-per-second", 1));
  const auto output = arguments.get("output", "");
  const auto interval = arguments.get_int("checkpoint-interval", 0);

  env.set_job_name("wide");
  if (interval > 0)
    env.enable_checkpointing(std::chrono::milliseconds(interval));
  auto rows = env.from_source(api::generator_source<pair_row>(
      [](std::uint64_t i) {
        return pair_row{static_cast<std::int64_t>(headrace::mix64(i) % 10'000), 1};
      },
      api::unlimited, rows_per_second));
  for (std::int64_t i = 1; i < vertices; ++i)
    rows = rows.key_by(&pair_row::key).sum(&pair_row::value);
  if (output.empty())
    rows.sink_to(api::any_sink{"blackhole", {}});
  else
    rows.sink_to(api::file_sink::csv(output));
}
