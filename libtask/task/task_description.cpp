#include "libtask/task/task_description.hpp"

#include "libstate/handle/subtask_state_codec.hpp"
#include "libgraph/job_graph/job_graph_codec.hpp"
#include "libactors/message/ids_codec.hpp"
#include "libactors/rpc/address_codec.hpp"

#include <utility>

namespace headrace::task {

namespace {

job_description read_job(schema::JobInformation::Reader in) {
  job_description out;
  out.id = read_id<job_id>(in.getJob());
  out.name = in.getName().cStr();
  for (const auto argument : in.getArguments())
    out.arguments.emplace_back(argument.cStr());
  for (const auto artifact : in.getArtifacts())
    out.artifacts.push_back(
        {artifact.getName().cStr(), artifact.getDigest().cStr(), artifact.getSizeBytes()});
  out.graph_hash = in.getGraphHash().cStr();
  out.blob_server = actors::read_address(in.getBlobServer());
  out.state_backend = in.getStateBackend().cStr();
  out.checkpoint_directory = in.getCheckpointDirectory().cStr();
  out.checkpointing = in.getCheckpointing();
  out.periodic_checkpoints = in.getPeriodicCheckpoints();
  out.at_least_once = in.getAtLeastOnce();
  out.may_drop_state = in.getAllowNonRestoredState();
  out.buffer_timeout_ms = in.getBufferTimeoutMs();
  out.committer_retries = in.getCommitterRetries();
  return out;
}

status read_gate(schema::InputGate::Reader gate, const graph::job_vertex& vertex,
                 input_description& out) {
  if (gate.getInput() < 0 ||
      static_cast<std::size_t>(gate.getInput()) >= vertex.operators.front().input_types.size())
    return error(errc::malformed_message, "gate of an unknown input");
  const auto first_place = static_cast<std::uint32_t>(out.places.size());
  for (const auto place : gate.getPlaces())
    out.places.push_back({read_id<task_executor_id>(place.getTaskExecutor()),
                          actors::read_address(place.getLocation()),
                          {place.getData().getHost().cStr(), place.getData().getPort()}});
  const auto place_count = gate.getPlaces().size();
  const auto result = read_id<result_id>(gate.getResult());
  const auto producer = read_id<vertex_id>(gate.getProducer());
  if (gate.getPartitioner() > static_cast<std::uint8_t>(graph::partitioner_kind::custom))
    return error(errc::malformed_message, "gate of an unknown kind of partitioner");
  auto& partitioner = out.partitioners[result];
  partitioner.kind = static_cast<graph::partitioner_kind>(gate.getPartitioner());
  for (const auto column : gate.getKeyColumns())
    partitioner.key_columns.push_back(column);
  const auto channels = gate.getChannels();
  out.channels.reserve(out.channels.size() + channels.size());
  for (const auto channel : channels) {
    if (channel.getPlace() >= place_count)
      return error(errc::malformed_message, "channel from an unknown place");
    out.channels.push_back(
        {{result, {producer, channel.getSubtask(), channel.getAttempt(), gate.getGeneration()}},
         first_place + channel.getPlace(),
         gate.getSubpartition(),
         gate.getInput()});
  }
  return {};
}

status read_exchange(schema::TaskDeployment::Reader in, task_description& out) {
  auto inputs = std::make_shared<input_description>();
  for (const auto gate : in.getGates())
    HEADRACE_CHECK(read_gate(gate, out.vertex, *inputs));
  out.inputs = std::move(inputs);
  for (const auto partition : in.getPartitions()) {
    if (partition.getSubpartitions() < 1)
      return error(errc::malformed_message, "result partition without subpartitions");
    out.partitions.push_back({read_partition(partition.getPartition()),
                              partition.getSubpartitions(), partition.getConsumerMaxParallelism()});
  }
  if (out.partitions.size() != out.vertex.outputs.size())
    return error(errc::malformed_message, "result partitions are not those of the vertex");
  return {};
}

} // namespace

std::string task_description::display_name() const {
  return vertex.name + " (" + std::to_string(attempt.subtask + 1) + "/" +
         std::to_string(vertex.parallelism) + ")";
}

result<task_description> read_task_deployment(schema::TaskDeployment::Reader in) {
  return checked_read([&]() -> result<task_description> {
    task_description out;
    out.job = read_job(in.getJobInformation());
    out.job_master = actors::read_address(in.getJobMaster());
    out.job_master_token = read_id<fencing_token>(in.getJobMasterToken());
    out.attempt = read_attempt(in.getAttempt());
    out.allocation = read_id<allocation_id>(in.getAllocation());
    HEADRACE_TRY(out.vertex, graph::decode_vertex(in.getVertex().getAs<schema::JobVertex>()));
    if (out.attempt.subtask < 0 || out.attempt.subtask >= out.vertex.parallelism)
      return error(errc::malformed_message, "subtask beyond the parallelism of its vertex");
    HEADRACE_CHECK(read_exchange(in, out));
    out.restored_checkpoint = in.getRestoredCheckpoint();
    HEADRACE_TRY(out.state, headrace::state::read_subtask_state(in.getState()));
    return out;
  });
}

} // namespace headrace::task
