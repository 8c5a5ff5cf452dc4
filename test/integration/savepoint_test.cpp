#include "test/integration/testing_job.hpp"
#include "test/support/seed.hpp"
#include "libactors/base/text.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

// The windowed job, stopped with a savepoint at a moment drawn from a seed, and run on from that at
// another parallelism: the rows of both runs together must be those of an undisturbed one.

namespace headrace::testing {
namespace {

/// The sums of all rows that tell of the same kind, key and second.
std::map<std::string, std::int64_t> summed(const std::multiset<std::string>& rows) {
  std::map<std::string, std::int64_t> out;
  for (const auto& row : rows) {
    const auto comma = row.rfind(',');
    out[row.substr(0, comma)] += std::stoll(row.substr(comma + 1));
  }
  return out;
}

constexpr int parallelisms[][2] = {{4, 2}, {2, 5}, {4, 4}, {1, 6}, {6, 1}, {3, 4}};

TEST_SUITE_BEGIN("integration/savepoint");

TEST_CASE("a job that is stopped with a savepoint and run on elsewise gives every row once") {
  const windowed_input input = make_windowed_input(4, 1500);
  const auto expected = expected_rows(input);

  for (int run = 0; run < testing::runs(12); ++run) {
    const std::uint64_t seed = testing::seed() + static_cast<std::uint64_t>(run);
    const auto& [before, after] = parallelisms[run % std::size(parallelisms)];
    CAPTURE(seed);
    const run_outcome got = run_windowed_job(input, {.seed = seed,
                                                     .disturbances = run % 2 == 0 ? 0 : 3,
                                                     .parallelism = before,
                                                     .restored_parallelism = after});
    CHECK_MESSAGE(got.failure.empty(), got.failure);
    CHECK(got.rows_at_stop < expected.size());
    if (run % 2 == 0) // else a task that was killed may have left some
      CHECK(got.unfinal_at_stop == 0);
    CHECK(got.late_rows == 0);
    CHECK(got.rows == expected);
    if (!got.failure.empty() || got.rows != expected)
      break;
  }
}

TEST_CASE("splits that are dealt out while a savepoint is taken are read once") {
  const windowed_input input = make_windowed_input(4, 1500);
  const auto expected = input_rows(input);

  for (int run = 0; run < testing::runs(30); ++run) {
    const std::uint64_t seed = testing::seed() + static_cast<std::uint64_t>(run);
    const auto& [before, after] = parallelisms[run % std::size(parallelisms)];
    CAPTURE(seed);
    const run_outcome got = run_windowed_job(input, {.seed = seed,
                                                     .disturbances = run % 3 == 2 ? 3 : 0,
                                                     .parallelism = before,
                                                     .restored_parallelism = after,
                                                     .deals_splits = true});
    CHECK_MESSAGE(got.failure.empty(), got.failure);
    CHECK(got.rows_at_stop < expected.size());
    CHECK(got.rows == expected);
    if (!got.failure.empty() || got.rows != expected)
      break;
  }
}

TEST_CASE("a job that is drained fires its windows, and loses nothing when it is run on") {
  const windowed_input input = make_windowed_input(4, 1500);
  const auto expected = summed(expected_rows(input));

  for (int run = 0; run < testing::runs(8); ++run) {
    const std::uint64_t seed = testing::seed() + static_cast<std::uint64_t>(run);
    const auto& [before, after] = parallelisms[run % std::size(parallelisms)];
    CAPTURE(seed);
    const run_outcome got = run_windowed_job(input, {.seed = seed,
                                                     .disturbances = run % 2 == 0 ? 0 : 3,
                                                     .parallelism = before,
                                                     .restored_parallelism = after,
                                                     .drains = true});
    CHECK_MESSAGE(got.failure.empty(), got.failure);
    CHECK(got.rows_at_stop > 0);
    if (run % 2 == 0)
      CHECK(got.unfinal_at_stop == 0);
    CHECK(got.rows.size() > expected.size()); // windows that were open fired twice, with parts
    CHECK(summed(got.rows) == expected);
    if (!got.failure.empty() || summed(got.rows) != expected)
      break;
  }
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::testing
