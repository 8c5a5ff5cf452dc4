#include "libscheduler/dispatcher/dispatcher_endpoint.hpp"

#include "test/libscheduler/testing_cluster.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

namespace headrace::scheduler {

using std::chrono::milliseconds;
using testing::source_to_sink;
using testing::testing_cluster;

namespace {

graph::checkpoint_spec every(std::int64_t interval_ms) {
  graph::checkpoint_spec spec;
  spec.interval_ms = interval_ms;
  spec.timeout_ms = 2'000;
  return spec;
}

result<message<schema::Acknowledge>> suspend(testing_cluster& cluster, milliseconds patience) {
  message_builder<schema::SuspendJobs> order;
  order->setTimeoutMs(patience.count());
  return cluster.node->ask_and_wait<schema::Acknowledge>(cluster.dispatcher, order.finish(),
                                                         2 * patience + milliseconds(1'000));
}

void restart(testing_cluster& cluster) {
  cluster.node->kill(cluster.dispatcher);
  cluster.node->run(100'000);
  cluster.start_dispatcher();
  cluster.client =
      std::make_unique<job_client>(*cluster.node, cluster.dispatcher, cluster.blob_server);
}

} // namespace

TEST_SUITE_BEGIN("scheduler/dispatcher/dispatcher_endpoint");

TEST_CASE("a stopped job ends with a last checkpoint, which is kept, also without an interval") {
  testing_cluster cluster;
  cluster.add_executor(2);
  const auto job = cluster.client->submit(source_to_sink(2, 4).job());
  REQUIRE(cluster.run_until_running(4));
  REQUIRE(cluster.wait_for(*job, "running"));

  const auto kept = cluster.client->stop(*job);

  REQUIRE(kept);
  CHECK(kept->checkpoint == 1);
  CHECK(cluster.client->wait(*job)->state == job_state::canceled);
  CHECK(cluster.tasks.running.empty());
  CHECK(state::read_checkpoint(*cluster.files, kept->path));
  CHECK(cluster.client->stop(*job).error().code == errc::checkpoint_declined);
  CHECK(cluster.client->stop({1, 1}).error().code == errc::job_not_found);
}

TEST_CASE("a job whose last checkpoint fails goes on, and may be stopped later") {
  testing_cluster cluster;
  cluster.add_executor(2);
  auto sample = source_to_sink(2, 4);
  sample.job().checkpoints.timeout_ms = 500;
  const auto job = cluster.client->submit(sample.job());
  REQUIRE(cluster.run_until_running(4));
  cluster.tasks.acknowledges = false;

  CHECK(cluster.client->stop(*job).error().has(errc::checkpoint_expired));

  const auto known = cluster.client->status(*job);
  CHECK(known->state == job_state::running);
  CHECK(known->restarts == 0);
  cluster.tasks.acknowledges = true;
  CHECK(cluster.client->stop(*job));
}

TEST_CASE("suspended jobs are run on by the next dispatcher, from their last checkpoint") {
  testing_cluster cluster;
  cluster.add_executor(4);
  auto sample = source_to_sink(2, 4);
  sample.job().checkpoints = every(1'000'000);
  const auto periodic = cluster.client->submit(sample.job());
  const auto plain = cluster.client->submit(source_to_sink(2, 4, 8).job());
  REQUIRE(cluster.run_until_running(8));

  REQUIRE(suspend(cluster, milliseconds(5'000)));
  CHECK(cluster.client->submit(source_to_sink(1, 1, 9).job()).error().code == errc::shut_down);
  cluster.node->run(100'000);
  CHECK(cluster.tasks.running.empty());
  restart(cluster);

  REQUIRE(cluster.run_until_running(8));
  for (const auto& [attempt, task] : cluster.tasks.running) {
    CHECK(attempt.generation == 1);
    CHECK(task.restored == 1);
  }
  CHECK(cluster.wait_for(*periodic, "running"));
  CHECK(cluster.wait_for(*plain, "running"));
}

TEST_CASE("a checkpoint that does not come in time does not hold up the end of the process") {
  testing_cluster cluster;
  cluster.add_executor(2);
  const auto job = cluster.client->submit(source_to_sink(2, 4).job());
  REQUIRE(cluster.run_until_running(4));
  cluster.tasks.acknowledges = false;

  REQUIRE(suspend(cluster, milliseconds(300)));
  restart(cluster);

  REQUIRE(cluster.run_until_running(4));
  CHECK(cluster.tasks.running.begin()->second.restored == 0);
  CHECK(cluster.wait_for(*job, "running"));
}

TEST_CASE("who asks the next dispatcher for a job that has ended hears how it ended") {
  testing_cluster cluster;
  cluster.add_executor(2);
  const auto job = cluster.client->submit(source_to_sink(2, 4).job());
  REQUIRE(cluster.run_until_running(4));
  cluster.finish(*job);
  REQUIRE(cluster.client->wait(*job)->state == job_state::finished);
  cluster.node->run(100'000);

  restart(cluster);

  CHECK(cluster.client->wait(*job)->state == job_state::finished);
  CHECK(cluster.client->status(*job)->name == source_to_sink(2, 4).job().name);
  CHECK(cluster.client->submit(source_to_sink(2, 4).job()).error().code == errc::duplicate_job);
}

TEST_CASE("a job that has ended does not begin anew, whenever its dispatcher is lost") {
  int runs_on = 0;
  int has_ended = 0;
  for (std::uint64_t steps = 0; steps < 60; ++steps) {
    CAPTURE(steps);
    testing_cluster cluster;
    cluster.add_executor(2);
    auto sample = source_to_sink(2, 4);
    sample.job().checkpoints = every(500);
    const auto job = cluster.client->submit(sample.job());
    REQUIRE(cluster.run_until([&] { return cluster.tasks.completed.contains(2); }));
    cluster.finish(*job);
    cluster.node->run(steps);

    cluster.node->kill(cluster.dispatcher);
    cluster.kill(cluster.executors[0]);
    cluster.add_executor(2);
    restart(cluster);
    const auto has_ended_now = [&] { return cluster.state_of(*job) == "finished"; };
    for (int i = 0; i < 600 && cluster.tasks.running.empty() && !has_ended_now(); ++i)
      cluster.node->advance(milliseconds(100));

    for (const auto& [attempt, task] : cluster.tasks.running)
      CHECK(task.restored > 0);
    CHECK(cluster.tasks.running.empty() == has_ended_now());
    (has_ended_now() ? has_ended : runs_on)++;
  }
  CHECK(runs_on > 0);
  CHECK(has_ended > 0);
}

TEST_CASE("who asks before the stored jobs are read gets an answer once they are") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(testing::seed());
    CAPTURE(seed);
    testing_cluster cluster(testing::seed() + seed);
    const auto job = cluster.client->submit(source_to_sink(2, 4).job());
    REQUIRE(job);

    restart(cluster);

    CHECK(cluster.client->status(*job));
    CHECK(cluster.client->list()->view()->getJobs().size() == 1);
  }
}

TEST_SUITE_END();

} // namespace headrace::scheduler
