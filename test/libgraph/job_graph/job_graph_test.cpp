#include "libgraph/job_graph/job_graph.hpp"

#include "test/libgraph/testing_pipelines.hpp"
#include "libgraph/job_graph/job_graph_codec.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::graph;
using namespace headrace::testing;

TEST_SUITE_BEGIN("graph/job_graph/job_graph");

namespace {

template <class Change>
errc code_after(Change&& change) {
  auto job = full_job();
  change(job);
  const auto checked = validate(job);
  return checked ? errc::none : checked.error().code;
}

} // namespace

TEST_CASE("a graph that the builder made is valid") { CHECK(validate(full_job())); }

TEST_CASE("each broken promise of a graph is refused") {
  CHECK(code_after([](job_graph& job) { job.vertices.clear(); }) == errc::invalid_graph);
  CHECK(code_after([](job_graph& job) { job.vertices[1].id = job.vertices[0].id; }) ==
        errc::invalid_graph);
  CHECK(code_after([](job_graph& job) { std::swap(job.vertices[0], job.vertices[1]); }) ==
        errc::invalid_graph);
  CHECK(code_after([](job_graph& job) { job.vertices[0].operators[0].id = {}; }) ==
        errc::invalid_graph);
  CHECK(code_after([](job_graph& job) { job.vertices[0].chain.pop_back(); }) ==
        errc::invalid_graph);
  CHECK(code_after([](job_graph& job) { job.vertices[0].chain[0].to = 1000; }) ==
        errc::invalid_graph);
  CHECK(code_after([](job_graph& job) { job.vertices[0].chain[0].side = 7; }) ==
        errc::invalid_graph);
  CHECK(code_after([](job_graph& job) { job.vertices[0].outputs[0].from = -1; }) ==
        errc::invalid_graph);
  CHECK(code_after([](job_graph& job) {
          job.vertices[0].outputs[0].partitioner.key_columns = {9};
        }) == errc::invalid_graph);
  CHECK(code_after([](job_graph& job) { job.vertices[1].inputs.clear(); }) == errc::invalid_graph);
  CHECK(code_after([](job_graph& job) { job.vertices[1].inputs[0].input = 1; }) ==
        errc::invalid_graph);
  CHECK(code_after([](job_graph& job) {
          job.vertices[1].inputs.push_back(job.vertices[1].inputs[0]);
        }) == errc::invalid_graph);
  CHECK(code_after([](job_graph& job) {
          for (auto& vertex : job.vertices)
            if (vertex.inputs.size() == 2)
              vertex.inputs[1].input = 0; // nothing comes to its other input
        }) == errc::invalid_graph);
  CHECK(code_after([](job_graph& job) { job.vertices[0].parallelism = 0; }) == errc::invalid_graph);
  CHECK(code_after([](job_graph& job) { job.vertices[0].parallelism = 129; }) ==
        errc::invalid_graph);
  CHECK(code_after([](job_graph& job) { job.vertices[0].max_parallelism = 40'000; }) ==
        errc::invalid_graph);
}

TEST_CASE("unaligned checkpoints are refused where several may be under way") {
  auto job = full_job();
  job.checkpoints.unaligned = true;
  CHECK(validate(job));
  job.checkpoints.max_concurrent = 2;
  REQUIRE(!validate(job));
  CHECK(validate(job).error().code == errc::bad_option_value);
  job.checkpoints.unaligned = false;
  CHECK(validate(job));
  job.checkpoints.max_concurrent = 0;
  CHECK(validate(job).error().code == errc::bad_option_value);
}

TEST_CASE("master hooks have identifiers of their own") {
  auto job = full_job();
  job.checkpoints.master_hooks = {{"one", 0}, {"other", 1}};
  CHECK(validate(job));
  const auto encoded = encode(job);
  const auto again = decode(*encoded.view());
  REQUIRE(again);
  CHECK(again->checkpoints.master_hooks == job.checkpoints.master_hooks);
  job.checkpoints.master_hooks[1].identifier = "one";
  CHECK(validate(job).error().code == errc::invalid_graph);
  job.checkpoints.master_hooks[1].identifier = "";
  CHECK(validate(job).error().code == errc::invalid_graph);
}

TEST_CASE("commits are tried again never, or some times") {
  auto job = full_job();
  job.committer_retries = 0;
  CHECK(validate(job));
  job.committer_retries = -1;
  REQUIRE(!validate(job));
  CHECK(validate(job).error().code == errc::bad_option_value);
}

TEST_CASE("behind the results of windows stand their bounds or nothing") {
  const auto result = testing_pipeline::type();
  const auto code = [&](std::vector<logical_type> behind,
                        window_kind kind = window_kind::tumbling) {
    testing_pipeline p;
    window_aggregate_spec spec;
    spec.key_columns = {0};
    spec.window = {kind, 10, 0, 0, 0};
    spec.aggregates = {{}, {{aggregate_kind::count, -1}}, result};
    transformation node;
    node.name = "window";
    node.inputs = {p.partition(p.source(), partitioner_kind::hash)};
    auto fields = result.fields();
    for (auto& type : behind)
      fields.push_back({"b" + std::to_string(fields.size()), std::move(type), {}});
    node.output_type = logical_type::row(std::move(fields)).not_null();
    node.call = operator_call{std::move(spec), {}};
    p.sink(p.program.add(std::move(node)));
    const auto built = build_job_graph(p.program, 2);
    if (!built)
      return built.error().code;
    const auto checked = validate(*built);
    return checked ? errc::none : checked.error().code;
  };
  const auto time = logical_type::timestamp(3);

  CHECK(code({}) == errc::none);
  CHECK(code({time, time, logical_type::timestamp_ltz(3)}) == errc::none);
  CHECK(code({time, time}) == errc::type_mismatch);
  CHECK(code({time, time, logical_type::bigint()}) == errc::type_mismatch);
  CHECK(code({time, time, logical_type::timestamp(6)}) == errc::type_mismatch);
  CHECK(code({time, time, time}, window_kind::end_of_stream) == errc::type_mismatch);
}

TEST_CASE("a forward edge between different parallelism is refused") {
  CHECK(code_after([](job_graph& job) {
          job.vertices[0].outputs[0].partitioner = {partitioner_kind::forward, {}, {}};
          job.vertices[1].parallelism = 2;
        }) == errc::invalid_graph);
}

TEST_CASE("an edge between different types is a type mismatch") {
  const auto other = logical_type::row({{"s", logical_type::string(), {}}}).not_null();

  CHECK(code_after([&](job_graph& job) { job.vertices[1].operators[0].input_types = {other}; }) ==
        errc::type_mismatch);
  CHECK(code_after([&](job_graph& job) { job.vertices[0].operators[1].input_types = {other}; }) ==
        errc::type_mismatch);
}

TEST_CASE("a uid that is used twice is refused by name") {
  auto job = full_job();
  job.vertices[1].operators[0].uid = "source-uid";

  const auto checked = validate(job);

  REQUIRE_FALSE(checked);
  CHECK(checked.error().code == errc::duplicate_uid);
  CHECK(checked.error().message.find("\"source-uid\"") != std::string::npos);
}

TEST_CASE("the hash leaves out name, settings and parallelism") {
  const auto job = full_job();
  auto other = job;
  other.name = "other";
  other.id = {};
  other.restart = {};
  other.checkpoints = {};
  for (auto& vertex : other.vertices)
    vertex.parallelism = 1;

  CHECK(graph_hash(other) == graph_hash(job));
}

TEST_CASE("the hash does not depend on chaining") {
  testing_pipeline p;
  p.sink(p.sum(p.map(p.source())));
  const auto chained = build_job_graph(p.program, 4).value();
  p.program.settings.chaining = false;
  const auto apart = build_job_graph(p.program, 4).value();

  CHECK(apart.vertices.size() > chained.vertices.size());
  CHECK(apart.hash == chained.hash);
}

TEST_CASE("a rebuilt graph that differs is told by its first operator that differs") {
  testing_pipeline submitted;
  submitted.sink(submitted.map(submitted.source()));
  testing_pipeline rebuilt;
  rebuilt.sink(rebuilt.sum(rebuilt.source(), "the sum"), "the sink");
  const auto wanted = build_job_graph(submitted.program, 1).value().hash;

  const auto words = graph_difference(build_job_graph(rebuilt.program, 1).value(), wanted);

  CHECK(words == "submitted with 3 operators, rebuilt with 3, first difference at operator "
                 "\"the sum\"");
  CHECK(graph_difference(build_job_graph(submitted.program, 7).value(), wanted).empty());
}

TEST_CASE("the maximal parallelism follows Flink's rule") {
  CHECK(derived_max_parallelism(1) == 128);
  CHECK(derived_max_parallelism(85) == 128);
  CHECK(derived_max_parallelism(86) == 256);
  CHECK(derived_max_parallelism(172) == 512);
  CHECK(derived_max_parallelism(32'768) == 32'768);
}

TEST_SUITE_END();
