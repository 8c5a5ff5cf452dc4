#include "test/integration/testing_job.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <iterator>

// A windowed job whose rows go through an async function, disturbed at moments drawn from a seed,
// and run on at another parallelism: its rows are those of a plain evaluation. Calls end in an
// order that is drawn from the seed, too.

namespace headrace::testing {
namespace {

void check_runs(int runs, const std::function<run_options(int run)>& options_of) {
  const auto input = make_windowed_input(4, 500);
  const auto expected = expected_rows(input);
  int restored = 0;
  bool moves = false;
  int moved = 0; // in the middle: a savepoint may come when all rows have been read
  for (int run = 0; run < runs; ++run) {
    auto options = options_of(run);
    options.seed = testing::seed() + static_cast<std::uint64_t>(run);
    options.asks = run % 2 == 0 ? asking::unordered : asking::ordered;
    CAPTURE(options.seed);
    CAPTURE(run);
    const auto got = run_windowed_job(input, options);
    CHECK_MESSAGE(got.failure.empty(), got.failure);
    moved += options.restored_parallelism > 0 && got.rows_at_stop < expected.size() ? 1 : 0;
    moves |= options.restored_parallelism > 0;
    CHECK(got.late_rows == 0);
    CHECK(got.rows == expected);
    restored += got.restored_checkpoints;
    if (!got.failure.empty() || got.rows != expected)
      break;
  }
  CHECK(restored > 0);
  CHECK((moved > 0) == moves);
}

constexpr int parallelisms[][2] = {{2, 3}, {3, 2}, {4, 1}, {1, 4}};

} // namespace

TEST_SUITE_BEGIN("integration/async");

TEST_CASE("a job that waits for calls and is disturbed gives what a plain evaluation gives") {
  check_runs(testing::runs(6), [](int run) {
    return run_options{.disturbances = 3, .restarts_job_manager = run % 3 == 1};
  });
}

TEST_CASE("rows in flight run on from a savepoint at another parallelism") {
  check_runs(testing::runs(8), [](int run) {
    const auto& [before, after] = parallelisms[run % static_cast<int>(std::size(parallelisms))];
    return run_options{.disturbances = run % 4 < 2 ? 0 : 2,
                       .state_backend = run % 4 == 1 ? "rocksdb" : "hashmap",
                       .parallelism = before,
                       .restored_parallelism = after};
  });
}

TEST_CASE("barriers that overtake rows lose none that wait for their calls") {
  check_runs(testing::runs(4),
             [](int) { return run_options{.disturbances = 3, .unaligned = true}; });
}

TEST_SUITE_END();

} // namespace headrace::testing
