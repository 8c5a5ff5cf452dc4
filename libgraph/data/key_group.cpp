#include "libgraph/data/key_group.hpp"

#include "libactors/base/assert.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

namespace headrace::graph {

std::int32_t default_max_parallelism(std::int32_t parallelism) {
  const auto wanted =
      static_cast<std::uint64_t>(parallelism) + static_cast<std::uint64_t>(parallelism) / 2;
  return static_cast<std::int32_t>(std::clamp<std::uint64_t>(
      std::bit_ceil(wanted), max_parallelism_least, max_parallelism_most));
}

void subtasks_of(std::span<const std::uint64_t> hashes, std::int32_t max_parallelism,
                 std::int32_t parallelism, std::span<std::uint32_t> out) {
  HEADRACE_ASSERT(out.size() == hashes.size(), "subtasks of another number of rows");
  HEADRACE_ASSERT(max_parallelism > 0 && max_parallelism <= max_parallelism_most,
                  "maximum parallelism out of range");
  // group * parallelism stays below 2^30, so 32 bits do.
  const auto most = static_cast<std::uint32_t>(max_parallelism);
  const auto width = static_cast<std::uint32_t>(parallelism);
  if (std::has_single_bit(most)) {
    const auto shift = std::countr_zero(most);
    for (std::size_t i = 0; i < hashes.size(); ++i)
      out[i] =
          (static_cast<std::uint32_t>(key_group_of(hashes[i], max_parallelism)) * width) >> shift;
    return;
  }
  for (std::size_t i = 0; i < hashes.size(); ++i)
    out[i] = static_cast<std::uint32_t>(key_group_of(hashes[i], max_parallelism)) * width / most;
}

} // namespace headrace::graph
