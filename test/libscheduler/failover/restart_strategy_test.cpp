#include "libscheduler/failover/restart_strategy.hpp"

#include "test/libscheduler/sample_graph.hpp"
#include "libscheduler/failover/failover_strategy.hpp"

#include <doctest/doctest.h>

namespace headrace::scheduler {

TEST_SUITE("scheduler/failover/restart_strategy") {

TEST_CASE("none never restarts") {
  auto random = make_seeded_random(1);
  graph::restart_spec spec;
  spec.kind = graph::restart_kind::none;

  const auto delay = make_restart_strategy(spec, *random)->on_failure(0);

  REQUIRE(!delay.has_value());
  CHECK(delay.error().code == errc::restart_suppressed);
}

TEST_CASE("fixed delay restarts a number of times") {
  auto random = make_seeded_random(1);
  graph::restart_spec spec;
  spec.kind = graph::restart_kind::fixed_delay;
  spec.attempts = 2;
  spec.delay_ms = 300;
  const auto strategy = make_restart_strategy(spec, *random);

  CHECK(*strategy->on_failure(0) == 300);
  CHECK(*strategy->on_failure(1) == 300);
  CHECK(!strategy->on_failure(2).has_value());
}

TEST_CASE("failure rate counts failures within its interval only") {
  auto random = make_seeded_random(1);
  graph::restart_spec spec;
  spec.kind = graph::restart_kind::failure_rate;
  spec.failures_max = 2;
  spec.interval_ms = 100;
  spec.delay_ms = 7;
  const auto strategy = make_restart_strategy(spec, *random);

  CHECK(*strategy->on_failure(0) == 7);
  CHECK(*strategy->on_failure(50) == 7);
  CHECK(*strategy->on_failure(100) == 7);
  CHECK(!strategy->on_failure(149).has_value());
}

TEST_CASE("exponential delay restarts at once, then backs off with jitter up to its limit") {
  auto random = make_seeded_random(1);
  graph::restart_spec spec;
  spec.initial_backoff_ms = 100;
  spec.max_backoff_ms = 400;
  spec.multiplier = 2.0;
  spec.jitter = 0.1;
  const auto strategy = make_restart_strategy(spec, *random);

  CHECK(*strategy->on_failure(0) == 0);
  for (const std::int64_t base : {100, 200, 400, 400}) {
    const auto delay = *strategy->on_failure(0);
    CHECK(delay >= base - base / 10 - 1);
    CHECK(delay <= std::min<std::int64_t>(base + base / 10, 400));
  }
}

TEST_CASE("exponential delay starts over after a quiet time") {
  auto random = make_seeded_random(1);
  graph::restart_spec spec;
  spec.reset_after_ms = 1000;
  const auto strategy = make_restart_strategy(spec, *random);
  CHECK(*strategy->on_failure(0) == 0);
  CHECK(*strategy->on_failure(10) > 0);

  CHECK(*strategy->on_failure(5000) == 0);
}

} // TEST_SUITE("scheduler/failover/restart_strategy")

TEST_SUITE("scheduler/failover/failover_strategy") {

TEST_CASE("a failure takes its region and what is downstream, or the whole job") {
  testing::sample_graph sample;
  const auto source = sample.add("source", 2);
  const auto sort = sample.add("sort", 2);
  sample.connect(source, sort, graph::partitioner_kind::forward);
  const auto sink = sample.add("sink", 1);
  sample.connect(sort, sink, graph::partitioner_kind::hash, graph::partition_kind::blocking);
  auto graph = execution_graph::build(sample.share());
  const pipelined_regions regions(*graph);

  CHECK(tasks_to_restart(*graph, regions, {0}, true) == std::vector<task_index>{0, 2, 4});
  CHECK(tasks_to_restart(*graph, regions, {4}, true) == std::vector<task_index>{4});
  CHECK(tasks_to_restart(*graph, regions, {4}, false).size() == 5);
}

} // TEST_SUITE("scheduler/failover/failover_strategy")

} // namespace headrace::scheduler
