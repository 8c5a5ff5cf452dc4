#include "libscheduler/execution_graph/deployment.hpp"

#include "libgraph/job_graph/job_graph_codec.hpp"
#include "libactors/message/ids_codec.hpp"
#include "libactors/rpc/address_codec.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace headrace::scheduler {

namespace {

std::int32_t max_parallelism_of(const graph::job_vertex& vertex, const deployment_facts& facts) {
  const auto restored = facts.max_parallelism.find(vertex.id);
  return restored == facts.max_parallelism.end() ? vertex.max_parallelism : restored->second;
}

void write_job(schema::JobInformation::Builder out, const graph::job_graph& job,
               const deployment_facts& facts) {
  write(out.initJob(), job.id);
  out.setName(job.name);
  auto arguments = out.initArguments(static_cast<unsigned>(job.arguments.size()));
  for (std::size_t i = 0; i < job.arguments.size(); ++i)
    arguments.set(static_cast<unsigned>(i), job.arguments[i].c_str());
  auto artifacts = out.initArtifacts(static_cast<unsigned>(job.artifacts.size()));
  for (std::size_t i = 0; i < job.artifacts.size(); ++i) {
    auto artifact = artifacts[static_cast<unsigned>(i)];
    artifact.setName(job.artifacts[i].name);
    artifact.setDigest(job.artifacts[i].digest);
    artifact.setSizeBytes(job.artifacts[i].size_bytes);
  }
  out.setGraphHash(job.hash);
  actors::write(out.initBlobServer(), facts.blob_server);
  out.setStateBackend(job.state_backend);
  out.setCheckpointDirectory(facts.checkpoint_directory);
  out.setCheckpointing(facts.takes_final_checkpoint);
  out.setPeriodicCheckpoints(job.checkpoints.interval_ms > 0);
  out.setAllowNonRestoredState(job.checkpoints.allow_non_restored_state);
  out.setAtLeastOnce(job.checkpoints.at_least_once);
  out.setBufferTimeoutMs(job.buffer_timeout_ms);
  out.setCommitterRetries(job.committer_retries);
}

/// Where the producers of a gate run, each place once, by first use.
class place_index {
public:
  std::uint32_t of(const task_slot& slot) {
    const auto [at, is_new] =
        by_executor_.emplace(slot.executor, static_cast<std::uint32_t>(places_.size()));
    if (is_new)
      places_.push_back(&slot);
    return at->second;
  }
  const std::vector<const task_slot*>& places() const { return places_; }

private:
  std::unordered_map<task_executor_id, std::uint32_t> by_executor_;
  std::vector<const task_slot*> places_;
};

void write_places(schema::InputGate::Builder out, const std::vector<const task_slot*>& places,
                  const deployment_facts& facts) {
  auto list = out.initPlaces(static_cast<unsigned>(places.size()));
  for (std::size_t i = 0; i < places.size(); ++i) {
    auto place = list[static_cast<unsigned>(i)];
    write(place.initTaskExecutor(), places[i]->executor);
    actors::write(place.initLocation(), places[i]->location);
    if (const auto data = facts.data.find(places[i]->executor); data != facts.data.end()) {
      auto where = place.initData();
      where.setHost(data->second.host);
      where.setPort(data->second.port);
    }
  }
}

void write_gate(schema::InputGate::Builder out, const execution_graph& graph, const job_edge& edge,
                std::int32_t subtask, const deployment_facts& facts) {
  const auto& consumer = graph.job().vertices[static_cast<std::size_t>(edge.consumer)];
  const auto first = graph.task_at(edge.producer, 0);
  write(out.initResult(), edge.result);
  write(out.initProducer(), graph.current(first).id.vertex);
  out.setGeneration(graph.current(first).id.generation);
  out.setInput(consumer.inputs[static_cast<std::size_t>(edge.gate)].input);
  out.setSubpartition(edge.pattern.subpartition_of(subtask));
  const auto& partitioner = graph.job()
                                .vertices[static_cast<std::size_t>(edge.producer)]
                                .outputs[static_cast<std::size_t>(edge.output)]
                                .partitioner;
  out.setPartitioner(static_cast<std::uint8_t>(partitioner.kind));
  auto columns = out.initKeyColumns(static_cast<unsigned>(partitioner.key_columns.size()));
  for (unsigned i = 0; i < columns.size(); ++i)
    columns.set(i, partitioner.key_columns[i]);
  const subtask_range producers = edge.pattern.producers_of(subtask);
  auto channels = out.initChannels(static_cast<unsigned>(producers.size()));
  place_index places;
  for (std::int32_t i = 0; i < producers.size(); ++i) {
    const execution& producer = graph.current(graph.task_at(edge.producer, producers.first + i));
    auto channel = channels[static_cast<unsigned>(i)];
    channel.setSubtask(producer.id.subtask);
    channel.setAttempt(producer.id.attempt);
    channel.setPlace(places.of(producer.slot));
  }
  write_places(out, places.places(), facts);
}

void write_vertex(schema::TaskDeployment::Builder out, const graph::job_vertex& vertex,
                  const deployment_facts& facts) {
  auto encoded = out.initVertex().initAs<schema::JobVertex>();
  graph::encode(vertex, encoded);
  encoded.setMaxParallelism(max_parallelism_of(vertex, facts));
}

} // namespace

message<schema::SubmitTask> describe_deployment(const execution_graph& graph, task_index task,
                                                const deployment_facts& facts,
                                                const deployment_state& state) {
  const execution& attempt = graph.current(task);
  const std::int32_t position = graph.vertex_position(task);
  message_builder<schema::SubmitTask> request;
  auto out = request->initDeployment();
  write_job(out.initJobInformation(), graph.job(), facts);
  actors::write(out.initJobMaster(), facts.job_master);
  write(out.initJobMasterToken(), facts.token);
  write(out.initAttempt(), attempt.id);
  write(out.initAllocation(), attempt.slot.allocation);
  write_vertex(out, graph.vertex_of(task), facts);

  const auto& inputs = graph.inputs_of(position);
  auto gates = out.initGates(static_cast<unsigned>(inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    write_gate(gates[static_cast<unsigned>(i)], graph,
               graph.edges()[static_cast<std::size_t>(inputs[i])], attempt.id.subtask, facts);

  const auto& outputs = graph.outputs_of(position);
  auto partitions = out.initPartitions(static_cast<unsigned>(outputs.size()));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const job_edge& edge = graph.edges()[static_cast<std::size_t>(outputs[i])];
    auto partition = partitions[static_cast<unsigned>(i)];
    write(partition.initPartition(), partition_id{edge.result, attempt.id});
    partition.setSubpartitions(edge.pattern.consumers_of(attempt.id.subtask).size());
    partition.setConsumerMaxParallelism(
        max_parallelism_of(graph.job().vertices[static_cast<std::size_t>(edge.consumer)], facts));
  }

  out.setRestoredCheckpoint(state.restored_checkpoint);
  if (state.write_state)
    state.write_state(out);
  return request.finish();
}

} // namespace headrace::scheduler
