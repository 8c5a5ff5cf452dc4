#include "libgraph/job_graph/job_graph_codec.hpp"

#include "libgraph/job_graph/codec_parts.hpp"
#include "libgraph/job_graph/job_settings_codec.hpp"
#include "libgraph/job_graph/operator_spec_codec.hpp"

#include <utility>

namespace headrace::graph {
namespace {

// ---- writing --------------------------------------------------------------------------------

void put(const operator_node& node, schema::OperatorNode::Builder out) {
  put_id(node.id, out.initId());
  out.setUid(text(node.uid));
  out.setName(text(node.name));
  put_types(node.input_types, out.initInputTypes(count_of(node.input_types)));
  out.setOutputType(data(encoded(node.output_type)));
  put_types(node.side_types, out.initSideTypes(count_of(node.side_types)));
  encode(node.spec, out.initSpec());
}

void put(const partitioner_spec& partitioner, schema::Partitioner::Builder out) {
  out.setKind(static_cast<std::uint8_t>(partitioner.kind));
  put_columns(partitioner.key_columns, out.initKeyColumns(count_of(partitioner.key_columns)));
  out.setFunction(partitioner.function.index);
}

// ---- reading --------------------------------------------------------------------------------

result<operator_node> node_of(schema::OperatorNode::Reader in) {
  operator_node node;
  node.id = id_of<operator_id>(in.getId());
  node.uid = string_of(in.getUid());
  node.name = string_of(in.getName());
  HEADRACE_TRY(node.input_types, types_of(in.getInputTypes()));
  HEADRACE_TRY(node.output_type, type_of(in.getOutputType()));
  HEADRACE_TRY(node.side_types, types_of(in.getSideTypes()));
  HEADRACE_TRY(node.spec, decode_spec(in.getSpec()));
  return node;
}

result<partitioner_spec> partitioner_of(schema::Partitioner::Reader in) {
  partitioner_spec partitioner;
  HEADRACE_TRY(partitioner.kind,
               enum_of(in.getKind(), partitioner_kind::custom, "kind of partitioner"));
  HEADRACE_TRY(partitioner.key_columns, columns_of(in.getKeyColumns()));
  partitioner.function.index = in.getFunction();
  return partitioner;
}

result<job_vertex> read_vertex(schema::JobVertex::Reader in) {
  job_vertex vertex;
  vertex.id = id_of<vertex_id>(in.getId());
  vertex.name = string_of(in.getName());
  vertex.parallelism = in.getParallelism();
  vertex.max_parallelism = in.getMaxParallelism();
  vertex.max_parallelism_is_fixed = in.getMaxParallelismIsFixed();
  vertex.slot_sharing_group = string_of(in.getSlotSharingGroup());
  HEADRACE_CHECK(check_count(in.getOperators().size(), job_graph_limits::operators, "operators"));
  HEADRACE_CHECK(check_count(in.getChain().size(), job_graph_limits::edges, "chain edges"));
  HEADRACE_CHECK(check_count(in.getInputs().size(), job_graph_limits::edges, "inputs"));
  HEADRACE_CHECK(check_count(in.getOutputs().size(), job_graph_limits::edges, "outputs"));
  for (const auto node : in.getOperators()) {
    HEADRACE_TRY(auto read, node_of(node));
    vertex.operators.push_back(std::move(read));
  }
  for (const auto edge : in.getChain())
    vertex.chain.push_back({edge.getFrom(), edge.getSide(), edge.getTo(), edge.getInput()});
  for (const auto input : in.getInputs())
    vertex.inputs.push_back({id_of<result_id>(input.getId()), input.getInput()});
  for (const auto output : in.getOutputs()) {
    HEADRACE_TRY(auto partitioner, partitioner_of(output.getPartitioner()));
    HEADRACE_TRY(auto kind,
                 enum_of(output.getKind(), partition_kind::blocking, "kind of partition"));
    vertex.outputs.push_back({id_of<result_id>(output.getId()), output.getFrom(), output.getSide(),
                              std::move(partitioner), kind});
  }
  return vertex;
}

result<job_graph> read_job(schema::JobGraph::Reader in) {
  job_graph job;
  job.id = id_of<job_id>(in.getId());
  job.name = string_of(in.getName());
  HEADRACE_CHECK(check_count(in.getVertices().size(), job_graph_limits::vertices, "vertices"));
  HEADRACE_CHECK(check_count(in.getArguments().size(), job_graph_limits::arguments, "arguments"));
  HEADRACE_CHECK(check_count(in.getArtifacts().size(), job_graph_limits::arguments, "artifacts"));
  for (const auto vertex : in.getVertices()) {
    HEADRACE_TRY(auto read, read_vertex(vertex));
    job.vertices.push_back(std::move(read));
  }
  for (const auto argument : in.getArguments())
    job.arguments.push_back(string_of(argument));
  for (const auto artifact : in.getArtifacts())
    job.artifacts.push_back(
        {string_of(artifact.getName()), string_of(artifact.getDigest()), artifact.getSizeBytes()});
  job.hash = string_of(in.getHash());
  HEADRACE_CHECK(read_settings(in, job));
  return job;
}

} // namespace

void encode(const job_vertex& vertex, schema::JobVertex::Builder out) {
  put_id(vertex.id, out.initId());
  out.setName(text(vertex.name));
  out.setParallelism(vertex.parallelism);
  out.setMaxParallelism(vertex.max_parallelism);
  out.setMaxParallelismIsFixed(vertex.max_parallelism_is_fixed);
  out.setSlotSharingGroup(text(vertex.slot_sharing_group));
  auto operators = out.initOperators(count_of(vertex.operators));
  for (unsigned i = 0; i < operators.size(); ++i)
    put(vertex.operators[i], operators[i]);
  auto chain = out.initChain(count_of(vertex.chain));
  for (unsigned i = 0; i < chain.size(); ++i) {
    chain[i].setFrom(vertex.chain[i].from);
    chain[i].setSide(vertex.chain[i].side);
    chain[i].setTo(vertex.chain[i].to);
    chain[i].setInput(vertex.chain[i].input);
  }
  auto inputs = out.initInputs(count_of(vertex.inputs));
  for (unsigned i = 0; i < inputs.size(); ++i) {
    put_id(vertex.inputs[i].id, inputs[i].initId());
    inputs[i].setInput(vertex.inputs[i].input);
  }
  auto outputs = out.initOutputs(count_of(vertex.outputs));
  for (unsigned i = 0; i < outputs.size(); ++i) {
    const auto& output = vertex.outputs[i];
    put_id(output.id, outputs[i].initId());
    outputs[i].setFrom(output.from);
    outputs[i].setSide(output.side);
    put(output.partitioner, outputs[i].initPartitioner());
    outputs[i].setKind(static_cast<std::uint8_t>(output.kind));
  }
}

message<schema::JobGraph> encode(const job_graph& job) {
  message_builder<schema::JobGraph> out;
  put_id(job.id, out->initId());
  out->setName(text(job.name));
  auto vertices = out->initVertices(count_of(job.vertices));
  for (unsigned i = 0; i < vertices.size(); ++i)
    encode(job.vertices[i], vertices[i]);
  auto arguments = out->initArguments(count_of(job.arguments));
  for (unsigned i = 0; i < arguments.size(); ++i)
    arguments.set(i, text(job.arguments[i]));
  auto artifacts = out->initArtifacts(count_of(job.artifacts));
  for (unsigned i = 0; i < artifacts.size(); ++i) {
    artifacts[i].setName(text(job.artifacts[i].name));
    artifacts[i].setDigest(text(job.artifacts[i].digest));
    artifacts[i].setSizeBytes(job.artifacts[i].size_bytes);
  }
  out->setHash(text(job.hash));
  write_settings(job, *out);
  return out.finish();
}

result<job_graph> decode(schema::JobGraph::Reader in) {
  return checked_read([&]() -> result<job_graph> {
    HEADRACE_TRY(auto job, read_job(in));
    HEADRACE_CHECK(validate(job));
    return job;
  });
}

result<job_vertex> decode_vertex(schema::JobVertex::Reader in) {
  return checked_read([&]() -> result<job_vertex> {
    HEADRACE_TRY(auto vertex, read_vertex(in));
    HEADRACE_CHECK(validate(vertex));
    return vertex;
  });
}

} // namespace headrace::graph
