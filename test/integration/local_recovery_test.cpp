#include "test/integration/testing_job.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

// A task manager is killed and comes back under its id: its tasks read the copies of their state
// that are there.

namespace headrace::testing {
namespace {

TEST_SUITE_BEGIN("integration/local_recovery");

TEST_CASE("tasks that come back to their task executors restore from local copies") {
  const windowed_input input = make_windowed_input(4, 2000);
  const auto expected = expected_rows(input);

  for (int run = 0; run < testing::runs(10); ++run) {
    const std::uint64_t seed = testing::seed() + static_cast<std::uint64_t>(run);
    CAPTURE(seed);
    // All slots are needed, so that the job waits for those that come back.
    const run_outcome got = run_windowed_job(
        input,
        {.seed = seed, .disturbances = 2, .task_executors = 2, .kills_task_executors = true});
    CHECK_MESSAGE(got.failure.empty(), got.failure);
    CHECK(got.restored_checkpoints >= 1);
    CHECK(got.restored_bytes > 0);
    CHECK(got.restored_local_bytes == got.restored_bytes);
    CHECK(!got.has_refused_copies);
    CHECK(got.copies_left == 0);
    CHECK(got.rows == expected);
    if (!got.failure.empty() || got.rows != expected)
      break;
  }
}

TEST_CASE("tasks whose local copies are damaged restore from what is stored") {
  const windowed_input input = make_windowed_input(4, 2000);
  const auto expected = expected_rows(input);

  for (int run = 0; run < testing::runs(10); ++run) {
    const std::uint64_t seed = testing::seed() + static_cast<std::uint64_t>(run);
    CAPTURE(seed);
    const run_outcome got = run_windowed_job(input, {.seed = seed,
                                                     .disturbances = 2,
                                                     .task_executors = 2,
                                                     .kills_task_executors = true,
                                                     .damages_copies = true});
    CHECK_MESSAGE(got.failure.empty(), got.failure);
    CHECK(got.restored_checkpoints >= 1);
    CHECK(got.restored_bytes > 0);
    CHECK(got.has_refused_copies);
    CHECK(got.rows == expected);
    if (!got.failure.empty() || got.rows != expected)
      break;
  }
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::testing
