// Sums int64 pairs by key: what bench/job_bench sets beside one flat hash map.
//
//     headrace run libkeyed_sum.so -- --pairs N --keys N

#include "libgraph/api/headrace.hpp"
#include "libactors/base/ids.hpp"

namespace api = headrace::api;

struct pair_row {
  std::int64_t key = 0;
  std::int64_t value = 0;
};
HEADRACE_STRUCT(pair_row, key, value)

HEADRACE_JOB(env) {
  const auto pairs = env.arguments().get_int("pairs", 10'000'000);
  const auto keys = static_cast<std::uint64_t>(env.arguments().get_int("keys", 1000));

  env.set_job_name("keyed sum");
  env.from_source(api::generator_source<pair_row>(
                      [keys](std::uint64_t i) {
                        return pair_row{static_cast<std::int64_t>(headrace::mix64(i) % keys),
                                        static_cast<std::int64_t>(i)};
                      },
                      static_cast<std::uint64_t>(pairs)))
      .key_by(&pair_row::key)
      .window(api::end_of_stream())
      .sum(&pair_row::value)
      .sink_to(api::any_sink{"blackhole", {}});
}
