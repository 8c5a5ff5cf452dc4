#include "libstate/heap/increment_policy.hpp"

#include <numeric>

namespace headrace::state {

namespace {

constexpr std::uint64_t fan = 4;

} // namespace

increment_plan plan_increment(const std::vector<std::uint64_t>& chain, std::uint64_t changed,
                              std::uint64_t all) {
  if (chain.empty())
    return {true, 0};
  const auto increments =
      std::accumulate(chain.begin() + 1, chain.end(), std::uint64_t{0}) + changed;
  if (increments > all / 2)
    return {true, 0};
  const auto count = chain.size() - 1;
  std::size_t absorbed = 0;
  auto rows = changed;
  for (;;) {
    // Those behind which the new one would be the last of `fan` that are not much larger.
    std::size_t run = 0;
    std::uint64_t of_run = 0;
    while (absorbed + run < count && chain[chain.size() - 1 - absorbed - run] < rows * fan) {
      of_run += chain[chain.size() - 1 - absorbed - run];
      ++run;
    }
    if (run + 1 < fan)
      break;
    absorbed += run;
    rows += of_run;
  }
  if (count - absorbed >= increments_max)
    absorbed = count;
  return {false, absorbed};
}

} // namespace headrace::state
