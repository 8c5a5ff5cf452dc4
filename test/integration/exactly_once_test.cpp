#include "test/integration/testing_job.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>

// A keyed event-time job with a window and with timers, from time-ordered files to the file sink,
// on a deterministic cluster whose actors are killed and whose functions throw at moments drawn
// from a seed. What comes out must be what an undisturbed run gives, to the row.

namespace headrace::testing {
namespace {

TEST_SUITE_BEGIN("integration/exactly_once");

TEST_CASE("a disturbed job's output is that of an undisturbed one") {
  const windowed_input input = make_windowed_input(4, 3000);
  const run_outcome calm = run_windowed_job(input, {.seed = 1, .disturbances = 0});
  REQUIRE(calm.failure.empty());
  REQUIRE(calm.rows == expected_rows(input));

  for (int run = 0; run < testing::runs(20); ++run) {
    const std::uint64_t seed = testing::seed() + static_cast<std::uint64_t>(run);
    CAPTURE(seed);
    const run_outcome got = run_windowed_job(input, {.seed = seed, .disturbances = 3});
    CHECK_MESSAGE(got.failure.empty(), got.failure);
    CHECK(got.restored_checkpoints >= 1);
    CHECK(got.windows_before_end >= 100);
    CHECK(got.late_rows == 0);
    CHECK(got.rows == calm.rows);
    if (!got.failure.empty() || got.rows != calm.rows)
      break;
  }
}

TEST_CASE("a checkpoint has a file for each task executor, however many tasks there are") {
  const windowed_input input = make_windowed_input(6, 1000);
  const run_outcome got =
      run_windowed_job(input, {.seed = testing::seed(), .parallelism = 6, .task_executors = 3});
  CHECK_MESSAGE(got.failure.empty(), got.failure);
  CHECK(got.rows == expected_rows(input));
  CHECK(got.checkpoint_files >= 2);
  CHECK(got.checkpoint_files <= 3 + 1); // and _metadata
}

TEST_CASE("a disturbed job on RocksDB gives the rows of an undisturbed one") {
  const windowed_input input = make_windowed_input(4, 1500);
  const auto expected = expected_rows(input);

  for (int run = 0; run < testing::runs(20); ++run) {
    const std::uint64_t seed = testing::seed() + static_cast<std::uint64_t>(run);
    CAPTURE(seed);
    const run_outcome got =
        run_windowed_job(input, {.seed = seed, .disturbances = 3, .state_backend = "rocksdb"});
    CHECK_MESSAGE(got.failure.empty(), got.failure);
    CHECK(got.restored_checkpoints >= 1);
    CHECK(got.late_rows == 0);
    CHECK(got.rows == expected);
    if (!got.failure.empty() || got.rows != expected)
      break;
  }
}

TEST_CASE("a disturbed job with unaligned checkpoints gives the rows of an undisturbed one") {
  const windowed_input input = make_windowed_input(4, 3000);
  const auto expected = expected_rows(input);
  std::uint64_t stored = 0;
  std::uint64_t restored = 0;
  // Some jobs end before a checkpoint with rows in flight is restored.
  for (int run = 0; run < testing::runs(8) || (restored == 0 && run < 80); ++run) {
    const std::uint64_t seed = testing::seed() + static_cast<std::uint64_t>(run);
    CAPTURE(seed);
    // A slow operator, whose input fills. Every second run tries to align first.
    const run_outcome got = run_windowed_job(input, {.seed = seed,
                                                     .disturbances = 3,
                                                     .state_backend = run % 3 == 2 ? "rocksdb" : "",
                                                     .unaligned = true,
                                                     .aligned_timeout_ms = run % 2 == 0 ? 0 : 20,
                                                     .row_us = 500});
    CHECK_MESSAGE(got.failure.empty(), got.failure);
    CHECK(got.late_rows == 0);
    CHECK(got.rows == expected);
    stored = std::max(stored, got.in_flight_bytes);
    restored = std::max(restored, got.restored_in_flight_bytes);
    if (!got.failure.empty() || got.rows != expected)
      break;
  }
  CHECK(stored > 0);
  CHECK(restored > 0);
}

TEST_CASE("splits that are dealt out between checkpoints are read once, whoever starts again") {
  const windowed_input input = make_windowed_input(4, 3000);
  const auto expected = input_rows(input);
  for (int run = 0; run < testing::runs(30); ++run) {
    const std::uint64_t seed = testing::seed() + static_cast<std::uint64_t>(run);
    CAPTURE(seed);
    const run_outcome got =
        run_windowed_job(input, {.seed = seed, .disturbances = 6, .deals_splits = true});
    CHECK_MESSAGE(got.failure.empty(), got.failure);
    CHECK(got.restored_checkpoints >= 1);
    CHECK(got.rows == expected);
    if (!got.failure.empty() || got.rows != expected)
      break;
  }
}

TEST_CASE("a job runs on from an unaligned checkpoint at another parallelism") {
  const windowed_input input = make_windowed_input(4, 1200);
  const auto expected = expected_rows(input);
  for (const int parallelism : {2, 3, 6}) {
    bool is_proven = false;
    // Some jobs end before a checkpoint with rows in flight was seen.
    for (int tries = 0; tries < 10 && !is_proven; ++tries) {
      const std::uint64_t seed = testing::seed() + static_cast<std::uint64_t>(10 * tries);
      CAPTURE(seed);
      CAPTURE(parallelism);
      const run_outcome got = run_windowed_job(input, {.seed = seed,
                                                       .restored_parallelism = parallelism,
                                                       .from_checkpoint = true,
                                                       .unaligned = true,
                                                       .row_us = 1000});
      if (got.failure == ended_early)
        continue;
      CHECK_MESSAGE(got.failure.empty(), got.failure);
      CHECK(got.rows == expected);
      is_proven = got.restored_in_flight_bytes > 0;
    }
    CHECK(is_proven);
  }
}

TEST_CASE("a job whose job manager is lost, too, is run on by the next one") {
  const windowed_input input = make_windowed_input(4, 3000);
  const auto expected = expected_rows(input);
  int restarts = 0;
  for (int run = 0; run < testing::runs(12); ++run) {
    const std::uint64_t seed = testing::seed() + static_cast<std::uint64_t>(run);
    CAPTURE(seed);
    const run_outcome got = run_windowed_job(input, {.seed = seed,
                                                     .disturbances = 3,
                                                     .restarts_job_manager = true,
                                                     .suspends_job_manager = run % 3 == 2});
    CHECK_MESSAGE(got.failure.empty(), got.failure);
    CHECK(got.restored_checkpoints >= 1);
    CHECK(got.late_rows == 0);
    CHECK(got.rows == expected);
    restarts += got.job_manager_restarts;
    if (!got.failure.empty() || got.rows != expected)
      break;
  }
  CHECK(restarts >= 1);
}

TEST_CASE("a wall clock that jumps disturbs nothing") {
  const windowed_input input = make_windowed_input(4, 2000);
  const run_outcome got =
      run_windowed_job(input, {.seed = testing::seed(), .disturbances = 6, .clock_jumps = true});

  CHECK_MESSAGE(got.failure.empty(), got.failure);
  CHECK(got.jumps >= 3);
  CHECK(got.restarts == 0);
  CHECK(got.late_rows == 0);
  CHECK(got.rows == expected_rows(input));
}

TEST_CASE("a disk that is full for a while costs restarts, and no row") {
  const windowed_input input = make_windowed_input(4, 1000);
  const auto expected = expected_rows(input);

  for (int run = 0; run < testing::runs(10); ++run) {
    const std::uint64_t seed = testing::seed() + static_cast<std::uint64_t>(run);
    CAPTURE(seed);
    const run_outcome got =
        run_windowed_job(input, {.seed = seed, .disturbances = 2, .full_disk = true});
    CHECK_MESSAGE(got.failure.empty(), got.failure);
    CHECK(got.restored_checkpoints >= 1);
    CHECK(got.rows == expected);
    if (!got.failure.empty() || got.rows != expected)
      break;
  }
}

TEST_CASE("a disturbed job gives its client the rows of an undisturbed one") {
  const windowed_input input = make_windowed_input(4, 1000);
  const auto expected = expected_rows(input);

  for (int run = 0; run < testing::runs(10); ++run) {
    const std::uint64_t seed = testing::seed() + static_cast<std::uint64_t>(run);
    CAPTURE(seed);
    const run_outcome got =
        run_windowed_job(input, {.seed = seed, .disturbances = 3, .collect = true});
    CHECK_MESSAGE(got.failure.empty(), got.failure);
    CHECK(got.restored_checkpoints >= 1);
    CHECK(got.windows_before_end >= 10);
    CHECK(got.rows == expected);
    if (!got.failure.empty() || got.rows != expected)
      break;
  }
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::testing
