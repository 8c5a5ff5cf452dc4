#include "libtask/operator/sink_operator.hpp"

#include "test/support/batches.hpp"
#include "test/support/chain_harness.hpp"
#include "test/support/testing_connectors.hpp"

#include <doctest/doctest.h>

#include <numeric>

using namespace headrace;
using namespace headrace::testing;

namespace {

graph::job_vertex writing() {
  auto vertex = vertex_of(graph::sink_spec{{"testing", {}, {}}}, *number_type(), *number_type());
  return vertex;
}

struct sink_fixture {
  explicit sink_fixture(bool checkpointing, const state::task_state_snapshot& from = {},
                        std::int32_t committer_retries = 10, const job_id& job = {})
      : log(std::make_shared<sink_log>()),
        harness(
            writing(), {},
            {0, 1, 8, checkpointing, {3, 1U << 20U}, false, "hashmap", committer_retries, job}) {
    add_testing_sink(harness.connectors, log);
    harness.open(from);
  }
  std::shared_ptr<sink_log> log;
  chain_harness harness;
};

} // namespace

TEST_SUITE("task/operator/sink_operator") {
TEST_CASE("rows are written in order, off the mailbox") {
  sink_fixture sink(true);
  sink.harness.push(numbers({1, 2}));
  sink.harness.push(numbers({3}));
  CHECK(sink.log->all_written().empty());

  sink.harness.services.run_steps();

  CHECK(sink.log->all_written() == std::vector<std::int64_t>{1, 2, 3});
  CHECK(sink.harness.metrics.records_out.value() == 3);
}

TEST_CASE("a full queue blocks the chain until the writer has caught up") {
  sink_fixture sink(true);
  for (int i = 0; i < 20 && !sink.harness.chain->is_blocked(); ++i)
    sink.harness.push(numbers({i}));
  REQUIRE(sink.harness.chain->is_blocked());
  const auto waiting = sink.harness.services.steps.size();
  CHECK(waiting == 1); // one call at a time

  sink.harness.services.run_steps();

  CHECK_FALSE(sink.harness.chain->is_blocked());
  sink.harness.drain();
}

TEST_CASE("a sink bounds what its chain takes at once from its first rows on") {
  sink_fixture sink(true);
  CHECK(sink.harness.chain->rows_wanted() > 1'000'000); // all may stay before it

  sink.harness.push(numbers({1}));

  CHECK(sink.harness.chain->rows_wanted() == 64); // nothing is known of the writer
}
TEST_CASE("what a checkpoint prepared is committed when it is complete, not before") {
  sink_fixture sink(true);
  sink.harness.push(numbers({1, 2}));
  const auto stored = sink.harness.snapshot(1);
  sink.harness.push(numbers({3}));
  sink.harness.services.run_steps();
  CHECK(sink.log->all_committed().empty());

  CHECK(sink.harness.chain->notify_completed(1));
  CHECK(sink.harness.chain->has_unfinished_work());
  sink.harness.services.run_steps();

  CHECK(sink.log->all_committed() == std::vector<std::int64_t>{1, 2});
  CHECK_FALSE(sink.harness.chain->has_unfinished_work());
}

TEST_CASE("a task that ends right behind a completed checkpoint still commits it") {
  sink_fixture sink(true);
  sink.harness.push(numbers({1, 2}));
  sink.harness.snapshot(1);
  sink.harness.push(numbers({3})); // is being written
  CHECK(sink.harness.chain->notify_completed(1));

  sink.harness.chain->close();
  sink.harness.services.run_steps();

  CHECK(sink.log->all_committed() == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("an aborted checkpoint's rows are committed with the next one") {
  sink_fixture sink(true);
  sink.harness.push(numbers({1}));
  sink.harness.snapshot(1);
  CHECK(sink.harness.chain->notify_aborted(1));
  sink.harness.push(numbers({2}));
  sink.harness.snapshot(2);

  CHECK(sink.harness.chain->notify_completed(2));
  sink.harness.services.run_steps();

  CHECK(sink.log->all_committed() == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("after a restore, prepared rows are committed again first") {
  state::task_state_snapshot stored;
  {
    sink_fixture sink(true);
    sink.harness.push(numbers({1, 2}));
    stored = sink.harness.snapshot(1);
  }
  sink_fixture sink(true, stored);
  sink.harness.push(numbers({3}));

  sink.harness.services.run_steps();

  CHECK(sink.log->all_committed() == std::vector<std::int64_t>{1, 2});
  REQUIRE(sink.log->calls.size() >= 2);
  CHECK(sink.log->calls[0] == "commit");
  CHECK(sink.log->calls[1] == "create 1"); // what it finds prepared now is in no checkpoint
}

TEST_CASE("a sink is told of the jobs that its own goes on from, however many") {
  state::task_state_snapshot stored;
  std::vector<job_id> jobs;
  for (std::uint64_t id = 1; id <= 3; ++id) {
    for (int attempt = 0; attempt < 2; ++attempt) { // a job is none of its own former ones
      sink_fixture sink(true, stored, 10, {id, id});
      sink.harness.services.run_steps();
      CHECK(sink.log->former_jobs == jobs);
      stored = sink.harness.snapshot(1);
    }
    jobs.push_back({id, id});
  }
}

TEST_CASE("a commit that cannot be done now is tried again, and nothing overtakes it") {
  sink_fixture sink(true);
  sink.log->postponed_commits = 2;
  sink.harness.push(numbers({1}));
  sink.harness.snapshot(1);
  CHECK(sink.harness.chain->notify_completed(1));
  sink.harness.push(numbers({2}));
  auto& services = sink.harness.services;

  for (const int pause_ms : {100, 200}) {
    services.run_steps();
    CHECK(sink.log->all_committed().empty());
    CHECK(sink.log->all_written() == std::vector<std::int64_t>{1});
    CHECK(sink.harness.chain->has_unfinished_work());
    REQUIRE(services.delayed.size() == 1);
    CHECK(services.delayed.front().first == std::chrono::milliseconds(pause_ms));
    const auto again = std::move(services.delayed.front().second);
    services.delayed.clear();
    again();
  }
  services.run_steps();

  CHECK(sink.log->all_committed() == std::vector<std::int64_t>{1});
  CHECK(sink.log->all_written() == std::vector<std::int64_t>{1, 2});
  CHECK(services.failures.empty());
}

TEST_CASE("a commit that can never be done fails the task, and a restore tries it again") {
  state::task_state_snapshot stored;
  {
    sink_fixture sink(true);
    sink.log->postponed_commits = 1'000;
    sink.harness.push(numbers({1}));
    stored = sink.harness.snapshot(1);
    CHECK(sink.harness.chain->notify_completed(1));
    auto& services = sink.harness.services;
    services.run_steps();
    int tries = 0;
    for (; !services.delayed.empty(); ++tries) {
      CHECK(services.delayed.front().first <= std::chrono::milliseconds(10'000));
      const auto again = std::move(services.delayed.front().second);
      services.delayed.clear();
      again();
      services.run_steps();
    }
    CHECK(tries == 10);
    REQUIRE(services.failures.size() == 1);
    CHECK(services.failures.front().code == errc::commit_failed);
    CHECK(services.failures.front().has(errc::timed_out));
    CHECK(sink.log->all_committed().empty());
  }
  sink_fixture sink(true, stored);
  sink.harness.services.run_steps();
  CHECK(sink.log->all_committed() == std::vector<std::int64_t>{1});
}

TEST_CASE("a commit is tried again as often as the job says, once more a long while later") {
  for (const int retries : {0, 3, 40}) {
    CAPTURE(retries);
    sink_fixture sink(true, {}, retries);
    sink.log->postponed_commits = 1'000;
    sink.harness.push(numbers({1}));
    sink.harness.snapshot(1);
    CHECK(sink.harness.chain->notify_completed(1));
    auto& services = sink.harness.services;
    services.run_steps();
    int tries = 0;
    for (; !services.delayed.empty(); ++tries) {
      CHECK(services.delayed.front().first >= std::chrono::milliseconds(100));
      CHECK(services.delayed.front().first <= std::chrono::milliseconds(10'000));
      const auto again = std::move(services.delayed.front().second);
      services.delayed.clear();
      again();
      services.run_steps();
    }
    CHECK(tries == retries);
    REQUIRE(services.failures.size() == 1);
    CHECK(services.failures.front().code == errc::commit_failed);
    CHECK(to_string(services.failures.front()).find("sink.committer.retries") != std::string::npos);
  }
}

TEST_CASE("without checkpoints all is committed at the end of input") {
  sink_fixture sink(false);
  sink.harness.push(numbers({1, 2}));
  sink.harness.services.run_steps();
  CHECK(sink.log->all_committed().empty());

  sink.harness.end();
  CHECK(sink.harness.chain->has_unfinished_work());
  sink.harness.services.run_steps();

  CHECK(sink.log->all_committed() == std::vector<std::int64_t>{1, 2});
  CHECK_FALSE(sink.harness.chain->has_unfinished_work());
}

TEST_CASE("the final checkpoint tells the writer that the input has ended") {
  sink_fixture sink(true);
  sink.harness.push(numbers({1}));
  sink.harness.end();

  sink.harness.snapshot(1);

  CHECK(sink.log->calls.back() == "prepare end");
}

TEST_CASE("a failed write fails the task and names the sink") {
  sink_fixture sink(true);
  sink.log->fail_writes = true;
  sink.harness.push(numbers({1}));

  sink.harness.services.run_steps();

  REQUIRE(sink.harness.services.failures.size() == 1);
  CHECK(sink.harness.services.failures[0].code == errc::output_failed);
  CHECK(sink.harness.services.failures[0].message == "sink failed: test operator");
}
} // TEST_SUITE("task/operator/sink_operator")
