#include "libgraph/stream_graph/job_graph_builder.hpp"

#include "test/libgraph/testing_pipelines.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::graph;
using namespace headrace::testing;
using names = std::vector<std::string>;

TEST_SUITE_BEGIN("graph/stream_graph/job_graph_builder");

TEST_CASE("operators chain over forward edges") {
  testing_pipeline p;
  p.sink(p.map(p.map(p.source(), "a"), "b"));

  CHECK(p.vertex_names() == names{"source -> a -> b -> sink"});
}

TEST_CASE("every partitioning but forward ends a chain") {
  for (const auto kind :
       {partitioner_kind::hash, partitioner_kind::rebalance, partitioner_kind::rescale,
        partitioner_kind::shuffle, partitioner_kind::broadcast, partitioner_kind::global,
        partitioner_kind::custom}) {
    testing_pipeline p;
    p.sink(p.partition(p.source(), kind));
    CHECK(p.vertex_names() == names{"source", "sink"});
  }
  testing_pipeline p;
  p.sink(p.partition(p.source(), partitioner_kind::forward));
  CHECK(p.vertex_names() == names{"source -> sink"});
}

TEST_CASE("another parallelism, maximum or slot sharing group ends a chain") {
  const auto chained_after = [](auto change) {
    testing_pipeline p;
    const auto mapped = p.map(p.source());
    change(p.at(mapped));
    return p.vertex_names();
  };

  CHECK(chained_after([](transformation&) {}) == names{"source -> map"});
  CHECK(chained_after([](transformation& t) { t.parallelism = 3; }) == names{"source", "map"});
  CHECK(chained_after([](transformation& t) { t.max_parallelism = 9; }) == names{"source", "map"});
  CHECK(chained_after([](transformation& t) { t.slot_sharing_group = "g"; }) ==
        names{"source", "map"});
}

TEST_CASE("operators may forbid chaining") {
  const auto chained_with = [](chaining_policy policy) {
    testing_pipeline p;
    const auto mapped = p.map(p.source());
    p.at(mapped).chaining = policy;
    p.sink(mapped);
    return p.vertex_names();
  };

  CHECK(chained_with(chaining_policy::always) == names{"source -> map -> sink"});
  CHECK(chained_with(chaining_policy::head) == names{"source", "map -> sink"});
  CHECK(chained_with(chaining_policy::never) == names{"source", "map", "sink"});
}

TEST_CASE("a job may forbid chaining") {
  testing_pipeline p;
  p.sink(p.source());
  p.program.settings.chaining = false;

  const auto job = build_job_graph(p.program, 2).value();

  REQUIRE(job.vertices.size() == 2);
  CHECK(job.vertices[0].outputs[0].partitioner.kind == partitioner_kind::forward);
}

TEST_CASE("an operator with several input edges starts a chain, and a gate each feeds it") {
  testing_pipeline p;
  const auto left = p.source("left");
  const auto right = p.source("right");
  p.sink(p.map(p.merge({left, right})));

  const auto job = build_job_graph(p.program, 2).value();

  REQUIRE(job.vertices.size() == 3);
  CHECK(job.vertices[2].name == "map -> sink");
  REQUIRE(job.vertices[2].inputs.size() == 2);
  CHECK(job.vertices[2].inputs[0].input == 0);
  CHECK(job.vertices[2].inputs[1].input == 0);
  CHECK(job.vertices[2].inputs[0].id == job.vertices[0].outputs[0].id);
  CHECK(job.vertices[2].inputs[1].id == job.vertices[1].outputs[0].id);
}

TEST_CASE("a stream united with itself is two results") {
  testing_pipeline p;
  const auto source = p.source();
  p.sink(p.merge({source, source}));

  const auto job = build_job_graph(p.program, 2).value();

  REQUIRE(job.vertices[0].outputs.size() == 2);
  CHECK(job.vertices[0].outputs[0].id != job.vertices[0].outputs[1].id);
}

TEST_CASE("a chain may branch") {
  testing_pipeline p;
  const auto source = p.source();
  p.sink(p.map(source), "x");
  p.sink(source, "y");

  const auto job = build_job_graph(p.program, 2).value();

  REQUIRE(job.vertices.size() == 1);
  CHECK(job.vertices[0].name == "source -> (map -> x, y)");
  CHECK(job.vertices[0].chain.size() == 3);
}

TEST_CASE("the classic word count is two vertices") {
  testing_pipeline p;
  p.sink(p.sum(p.map(p.source())));

  const auto job = build_job_graph(p.program, 4).value();

  REQUIRE(job.vertices.size() == 2);
  CHECK(job.vertices[0].name == "source -> map");
  CHECK(job.vertices[1].name == "sum -> sink");
  CHECK(job.vertices[0].outputs[0].from == 1);
  CHECK(job.vertices[0].outputs[0].partitioner.kind == partitioner_kind::hash);
  CHECK(job.vertices[1].parallelism == 4);
  CHECK(job.vertices[1].max_parallelism == 128);
  CHECK(job.hash == graph_hash(job));
}

TEST_CASE("the maximal parallelism is the operator's, else the job's, else derived") {
  testing_pipeline p;
  const auto source = p.source();
  const auto own = p.sum(source, "own");
  p.sum(source, "job");

  const auto derived = build_job_graph(p.program, 100).value();
  p.program.settings.max_parallelism = 300;
  p.at(own).max_parallelism = 17;
  const auto set = build_job_graph(p.program, 4).value();

  CHECK(derived.vertices[2].max_parallelism == 256);
  CHECK(set.vertices[1].max_parallelism == 17);
  CHECK(set.vertices[2].max_parallelism == 300);
}

TEST_CASE("a parallelism above the maximum is refused") {
  testing_pipeline p;
  p.program.settings.max_parallelism = 3;
  p.sink(p.source());

  const auto job = build_job_graph(p.program, 4);

  REQUIRE_FALSE(job);
  CHECK(job.error().code == errc::invalid_graph);
}

TEST_CASE("an operator of two inputs heads its chain, also over one stream twice") {
  testing_pipeline p;
  const auto source = p.source();
  const auto joined = p.anti_join(source, source);
  p.sink(joined);
  CHECK(p.vertex_names() == std::vector<std::string>{"source", "join -> sink"});

  const auto job = build_job_graph(p.program, 2).value();
  REQUIRE(job.vertices[1].inputs.size() == 2);
  CHECK(job.vertices[1].inputs[0].input == 0);
  CHECK(job.vertices[1].inputs[1].input == 1);
  CHECK(job.vertices[1].inputs[0].id != job.vertices[1].inputs[1].id);

  // Forward edges do not chain it either.
  p.at(joined).inputs = {source, source};
  CHECK(p.vertex_names() == std::vector<std::string>{"source", "join -> sink"});
}

TEST_SUITE_END();
