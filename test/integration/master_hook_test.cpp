#include "test/integration/testing_job.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

// A job with a master hook, whose actors are killed, and which runs on from a savepoint: the hook
// gets back what it gave for the checkpoint that the job restarts from.

namespace headrace::testing {
namespace {

TEST_SUITE_BEGIN("integration/master_hook");

TEST_CASE("a master hook gets back what it gave for the checkpoint of each restart") {
  const windowed_input input = make_windowed_input(4, 1000);
  for (int run = 0; run < testing::runs(10); ++run) {
    const std::uint64_t seed = testing::seed() + static_cast<std::uint64_t>(run);
    CAPTURE(seed);
    const auto log = std::make_shared<hook_log>();
    const run_outcome got = run_windowed_job(
        input, {.seed = seed,
                .disturbances = 2,
                .restored_parallelism = run % 2 == 0 ? 0 : 3, // by way of a savepoint
                .hook = log});
    CHECK_MESSAGE(got.failure.empty(), got.failure);
    CHECK(got.rows == expected_rows(input));
    CHECK(log->given.size() >= 2);
    CHECK(log->restored.size() >= 1);
    CHECK(static_cast<std::size_t>(log->resets) > log->restored.size()); // and at the start
    CHECK(log->closes >= 1);
    for (const auto& [checkpoint, state] : log->restored) {
      REQUIRE(log->given.contains(checkpoint));
      CHECK(state == log->given.at(checkpoint));
    }
  }
}

TEST_CASE("a job without the hook does not start from a savepoint that has state of it") {
  const windowed_input input = make_windowed_input(4, 1000);
  const run_outcome got = run_windowed_job(input, {.seed = testing::seed(),
                                                   .restored_parallelism = 4,
                                                   .hook = std::make_shared<hook_log>(),
                                                   .loses_hook = true});
  CHECK(got.failure.find("state of a master hook that the job has not") != std::string::npos);
  CHECK(got.failure.find("`ledger`") != std::string::npos);
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::testing
