#pragma once

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/types/logical_type.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <time.h>
#include <vector>

namespace headrace::bench {

constexpr std::size_t batch_rows = 4096;

/// CPU time of this thread: what else the machine does does not count.
inline double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

template <class T>
T take(result<T> from) {
  if (!from) {
    std::fprintf(stderr, "%s\n", to_string(from.error()).c_str());
    std::exit(1);
  }
  return *std::move(from);
}

inline void check(status done) {
  if (!done) {
    std::fprintf(stderr, "%s\n", to_string(done.error()).c_str());
    std::exit(1);
  }
}

/// Columns key and value.
inline graph::row_type_ptr pair_type() {
  const auto number = graph::logical_type::bigint().not_null();
  return std::make_shared<const graph::logical_type>(
      graph::logical_type::row({{"key", number, ""}, {"value", number, ""}}));
}

/// Batches of random keys below `keys`, and ones; others for each `seed`.
inline std::vector<graph::record_batch> make_batches(std::uint64_t keys, std::size_t count,
                                                     std::uint64_t seed = 7) {
  std::vector<graph::record_batch> out;
  graph::batch_builder rows(pair_type());
  auto random = seed;
  for (std::size_t batch = 0; batch < count; ++batch) {
    for (std::size_t i = 0; i < batch_rows; ++i) {
      random += 0x9e3779b97f4a7c15ULL;
      rows.column(0).append(static_cast<std::int64_t>(mix64(random) % keys));
      rows.column(1).append(std::int64_t{1});
      rows.end_row();
    }
    out.push_back(rows.finish());
  }
  return out;
}

} // namespace headrace::bench
