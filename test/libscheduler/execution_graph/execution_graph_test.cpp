#include "libscheduler/execution_graph/execution_graph.hpp"

#include "test/libscheduler/sample_graph.hpp"
#include "libscheduler/execution_graph/pipelined_region.hpp"

#include <doctest/doctest.h>

namespace headrace::scheduler {

using testing::sample_graph;

TEST_SUITE("scheduler/execution_graph/execution_graph") {

TEST_CASE("a job becomes a vertex per subtask, numbered in the graph's order") {
  sample_graph sample;
  const auto source = sample.add("source", 2);
  const auto sink = sample.add("sink", 3);
  sample.connect(source, sink);

  const auto graph = execution_graph::build(sample.share());

  REQUIRE(graph.has_value());
  CHECK(graph->task_count() == 5);
  CHECK(graph->task_at(sink, 1) == 3);
  CHECK(graph->name_of(3) == "sink (2/3)");
  CHECK(graph->find({sample.at(sink).id, 1, 0}) == 3);
  CHECK(graph->find({sample.at(sink).id, 1, 1}) == std::nullopt);
  CHECK(graph->find({sample.at(sink).id, 3, 0}) == std::nullopt);
  CHECK(graph->find({{9, 9}, 0, 0}) == std::nullopt);
}

TEST_CASE("an edge that cannot be run is named") {
  sample_graph sample;
  const auto source = sample.add("source", 1);
  const auto sink = sample.add("sink", 1);
  sample.connect(source, sink);

  SUBCASE("an input without producer") { sample.at(sink).inputs.push_back({{4, 4}, 0}); }
  SUBCASE("a result without consumer") { sample.at(sink).inputs.clear(); }
  SUBCASE("a result with two consumers") {
    const auto other = sample.add("other", 1);
    sample.at(other).inputs = sample.at(sink).inputs;
  }
  SUBCASE("no subtasks") { sample.at(sink).parallelism = 0; }

  const auto graph = execution_graph::build(sample.share());

  REQUIRE(!graph.has_value());
  CHECK(graph.error().code == errc::invalid_graph);
}

TEST_CASE("an illegal change of a task is refused and changes nothing") {
  sample_graph sample;
  sample.add("source", 1);
  auto graph = execution_graph::build(sample.share());

  const auto changed = graph->change_task_state(0, task_state::running);

  REQUIRE(!changed.has_value());
  CHECK(changed.error().code == errc::illegal_transition);
  CHECK(changed.error().message ==
        "task cannot change from created to running: source (1/1), attempt 0");
  CHECK(graph->current(0).state == task_state::created);
}

TEST_CASE("a task that starts again is another attempt without slot") {
  sample_graph sample;
  sample.add("source", 1);
  auto graph = execution_graph::build(sample.share());
  CHECK(graph->change_task_state(0, task_state::scheduled).has_value());
  graph->assign_slot(0, {{1, 1}, {2, 2}, {}});
  CHECK(graph->change_task_state(0, task_state::failed).has_value());

  graph->reset_task(0);

  CHECK(graph->current(0).id.attempt == 1);
  CHECK(graph->current(0).slot == task_slot{});
  CHECK(graph->count_of(task_state::created) == 1);
  CHECK(graph->count_of(task_state::failed) == 0);
}

TEST_CASE("a terminal state is left by no task and no job") {
  for (const auto from : {task_state::finished, task_state::canceled, task_state::failed}) {
    for (std::size_t to = 0; to < task_state_count; ++to)
      CHECK(!check_transition(from, static_cast<task_state>(to)).has_value());
  }
  for (const auto from : {job_state::finished, job_state::canceled, job_state::failed}) {
    for (int to = 0; to < 10; ++to)
      CHECK(!check_transition(from, static_cast<job_state>(to)).has_value());
  }
}

} // TEST_SUITE("scheduler/execution_graph/execution_graph")

TEST_SUITE("scheduler/execution_graph/pipelined_region") {

TEST_CASE("forward edges make a region per lane, a shuffle makes one of all") {
  sample_graph sample;
  const auto source = sample.add("source", 3);
  const auto map = sample.add("map", 3);
  sample.connect(source, map, graph::partitioner_kind::forward);
  auto lanes = execution_graph::build(sample.share());
  CHECK(pipelined_regions(*lanes).region_count() == 3);

  const auto sink = sample.add("sink", 2);
  sample.connect(map, sink);
  auto joined = execution_graph::build(sample.share());
  const pipelined_regions regions(*joined);
  CHECK(regions.region_count() == 1);
  CHECK(regions.tasks_of(0) == std::vector<task_index>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("a blocking partition separates regions") {
  sample_graph sample;
  const auto source = sample.add("source", 2);
  const auto sink = sample.add("sink", 2);
  sample.connect(source, sink, graph::partitioner_kind::hash, graph::partition_kind::blocking);
  auto graph = execution_graph::build(sample.share());

  const pipelined_regions regions(*graph);

  CHECK(regions.region_count() == 4);
  CHECK(regions.consumers_of(0) == std::vector<std::int32_t>{2, 3});
  CHECK(regions.consumers_of(2).empty());
}

} // TEST_SUITE("scheduler/execution_graph/pipelined_region")

} // namespace headrace::scheduler
