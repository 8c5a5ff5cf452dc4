#include "libscheduler/execution_graph/deployment.hpp"

#include "test/libscheduler/sample_graph.hpp"
#include "libgraph/job_graph/job_graph_codec.hpp"
#include "libactors/message/ids_codec.hpp"
#include "libactors/rpc/address_codec.hpp"

#include <doctest/doctest.h>

namespace headrace::scheduler {

using testing::sample_graph;

TEST_SUITE("scheduler/execution_graph/deployment") {

TEST_CASE("a gate names every producer's partition and place, a partition its consumers") {
  sample_graph sample;
  const auto source = sample.add("source", 2);
  const auto sink = sample.add("sink", 3);
  sample.at(sink).max_parallelism = 256;
  sample.connect(source, sink);
  auto graph = execution_graph::build(sample.share());
  for (task_index task = 0; task < graph->task_count(); ++task) {
    const auto n = static_cast<std::uint64_t>(task) + 1;
    graph->assign_slot(task, {{4, n}, {5, n}, {{6, n}, "taskexecutor", 1}});
  }
  const deployment_facts facts{{{6, 9}, "jobmaster", 1}, {8, 8}, {}, "/checkpoints/job", {}};

  const auto consumer = describe_deployment(*graph, graph->task_at(sink, 2), facts, {});
  const auto view = consumer.view();
  const auto gates = view->getDeployment().getGates();
  REQUIRE(gates.size() == 1);
  CHECK(gates[0].getSubpartition() == 2);
  CHECK(read_id<vertex_id>(gates[0].getProducer()) == graph->current(1).id.vertex);
  CHECK(gates[0].getGeneration() == graph->current(1).id.generation);
  REQUIRE(gates[0].getChannels().size() == 2);
  const auto channel = gates[0].getChannels()[1];
  CHECK(channel.getSubtask() == 1);
  CHECK(channel.getAttempt() == graph->current(1).id.attempt);
  REQUIRE(gates[0].getPlaces().size() == 2);
  const auto place = gates[0].getPlaces()[channel.getPlace()];
  CHECK(actors::read_address(place.getLocation()) == graph->current(1).slot.location);
  CHECK(read_id<task_executor_id>(place.getTaskExecutor()) == graph->current(1).slot.executor);

  const auto producer = describe_deployment(*graph, 0, facts, {});
  const auto partitions = producer.view()->getDeployment().getPartitions();
  REQUIRE(partitions.size() == 1);
  CHECK(partitions[0].getSubpartitions() == 3);
  CHECK(partitions[0].getConsumerMaxParallelism() == 256);
}

TEST_CASE("tasks are told whether to wait for a checkpoint at their end") {
  sample_graph sample;
  sample.add("source", 1);
  auto graph = execution_graph::build(sample.share());
  deployment_facts facts;
  const auto waits = [&] {
    const auto request = describe_deployment(*graph, 0, facts, {});
    return request.view()->getDeployment().getJobInformation().getCheckpointing();
  };

  CHECK(waits());
  facts.takes_final_checkpoint = false;
  CHECK_FALSE(waits());
}

TEST_CASE("a restored max parallelism replaces the graph's") {
  sample_graph sample;
  sample.add("source", 1);
  auto graph = execution_graph::build(sample.share());
  deployment_facts facts;
  facts.max_parallelism[sample.at(0).id] = 512;

  const auto request = describe_deployment(*graph, 0, facts, {});

  const auto view = request.view();
  const auto vertex = view->getDeployment().getVertex().getAs<schema::JobVertex>();
  CHECK(vertex.getMaxParallelism() == 512);
}

} // TEST_SUITE("scheduler/execution_graph/deployment")

} // namespace headrace::scheduler
