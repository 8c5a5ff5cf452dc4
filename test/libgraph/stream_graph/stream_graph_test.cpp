#include "libgraph/stream_graph/stream_graph.hpp"

#include "test/libgraph/testing_pipelines.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace headrace;
using namespace headrace::graph;
using namespace headrace::testing;

TEST_SUITE_BEGIN("graph/stream_graph/stream_graph");

namespace {

std::map<std::string, operator_id> ids_of(const testing_pipeline& p, std::int32_t parallelism = 2) {
  std::map<std::string, operator_id> ids;
  const auto graph = make_stream_graph(p.program, parallelism).value();
  for (const auto& node : graph.nodes)
    ids[node.op.name] = node.op.id;
  return ids;
}

} // namespace

TEST_CASE("unions, partitionings and side outputs become edges") {
  testing_pipeline p;
  const auto first = p.map(p.source("a"), "x");
  const auto second = p.source("b");
  transformation side;
  side.name = "side";
  side.inputs = {first};
  side.output_type = testing_pipeline::type();
  side.call = side_output_call{0};
  const auto taken = p.program.add(side);
  p.sink(p.partition(p.merge({taken, second}), partitioner_kind::shuffle));

  const auto graph = make_stream_graph(p.program, 2).value();

  CHECK(graph.nodes.size() == 4);
  REQUIRE(graph.edges.size() == 3);
  CHECK(graph.edges[1].from == 1);
  CHECK(graph.edges[1].side == 0);
  CHECK(graph.edges[1].to == 3);
  CHECK(graph.edges[1].partitioner.kind == partitioner_kind::shuffle);
  CHECK(graph.edges[2].from == 2);
  CHECK(graph.edges[2].side == -1);
}

TEST_CASE("an operator of two inputs knows which rows come over which edge") {
  testing_pipeline p;
  const auto left = p.source("a");
  const auto right = p.merge({p.source("b"), p.source("c")});
  const auto joined = p.anti_join(left, right);
  p.sink(joined);

  const auto graph = make_stream_graph(p.program, 2).value();

  REQUIRE(graph.edges.size() == 4);
  CHECK(graph.nodes[3].op.input_types.size() == 2);
  CHECK(graph.edges[0].from == 0);
  CHECK(graph.edges[0].input == 0);
  CHECK(graph.edges[1].from == 1);
  CHECK(graph.edges[1].input == 1);
  CHECK(graph.edges[2].from == 2);
  CHECK(graph.edges[2].input == 1);

  // The side that an input stands on is part of what an operator is.
  testing_pipeline other;
  const auto a = other.source("a");
  const auto b = other.source("b");
  const auto c = other.source("c");
  other.anti_join(a, other.merge({b, c}), "one");
  other.anti_join(other.merge({a, b}), c, "other");
  const auto ids = ids_of(other);
  CHECK(ids.at("one") != ids.at("other"));

  p.at(joined).inputs.pop_back();
  CHECK(make_stream_graph(p.program, 2).error().message == "\"join\" takes 2 inputs, has 1");
}

TEST_CASE("an edge without partitioning is forward, or rebalance where the parallelism changes") {
  testing_pipeline p;
  const auto mapped = p.map(p.source());
  const auto sink = p.sink(mapped);
  p.at(sink).parallelism = 5;

  const auto graph = make_stream_graph(p.program, 2).value();

  CHECK(graph.edges[0].partitioner.kind == partitioner_kind::forward);
  CHECK(graph.edges[1].partitioner.kind == partitioner_kind::rebalance);
}

TEST_CASE("a forward edge that was asked for refuses another parallelism, naming both ends") {
  testing_pipeline p;
  const auto sink = p.sink(p.partition(p.source("left"), partitioner_kind::forward), "right");
  p.at(sink).parallelism = 5;

  const auto graph = make_stream_graph(p.program, 2);

  REQUIRE_FALSE(graph);
  CHECK(graph.error().code == errc::invalid_graph);
  CHECK(graph.error().message.find("\"left\" has 2, \"right\" has 5") != std::string::npos);
}

TEST_CASE("who rebuilds for the structure alone need not know the parallelism") {
  testing_pipeline p;
  const auto mapped = p.map(p.source());
  const auto sink = p.sink(p.partition(mapped, partitioner_kind::forward));
  p.at(mapped).parallelism = 5;
  p.at(sink).parallelism = 5;

  const auto client = build_job_graph(p.program, 5).value();
  p.at(mapped).parallelism = 0;
  const auto executor = build_job_graph(p.program, 0).value();

  CHECK(executor.hash == client.hash);
}

TEST_CASE("ids stay when the parallelism, a name, or an unrelated operator changes") {
  testing_pipeline before;
  before.sink(before.sum(before.map(before.source("a"), "kept"), "sum"), "out");
  testing_pipeline after;
  after.sink(after.sum(after.map(after.source("a"), "kept"), "sum"), "out");
  const auto other = after.source("b");
  after.sink(after.map(other, "unrelated"), "other out");

  const auto ids = ids_of(before);
  const auto now = ids_of(after, 7);

  for (const auto* name : {"a", "kept", "sum", "out"})
    CHECK(ids.at(name) == now.at(name));
}

TEST_CASE("a uid decides the id alone") {
  testing_pipeline one;
  one.at(one.map(one.source(), "m")).uid = "my map";
  testing_pipeline two;
  two.at(two.map(two.map(two.source()), "m")).uid = "my map";

  CHECK(ids_of(one).at("m") == ids_of(two).at("m"));
}

TEST_CASE("operators that are alike have ids of their own") {
  testing_pipeline p;
  const auto source = p.source();
  p.map(source, "a");
  p.map(source, "b");

  const auto ids = ids_of(p);

  CHECK(ids.at("a") != ids.at("b"));
}

TEST_CASE("two operators with one uid are refused") {
  testing_pipeline p;
  const auto first = p.map(p.source(), "one");
  p.at(first).uid = "same";
  p.at(p.map(first, "two")).uid = "same";

  const auto graph = make_stream_graph(p.program, 1);

  REQUIRE_FALSE(graph);
  CHECK(graph.error() ==
        error(errc::duplicate_uid, "duplicate uid \"same\": operators \"one\" and \"two\""));
}

TEST_CASE("a slot sharing group is inherited from inputs that agree") {
  testing_pipeline p;
  const auto left = p.source("left");
  const auto right = p.source("right");
  p.at(left).slot_sharing_group = "x";
  p.map(left, "inherits");
  p.map(p.merge({left, right}), "falls back");

  const auto graph = make_stream_graph(p.program, 1).value();

  CHECK(graph.nodes[2].slot_sharing_group == "x");
  CHECK(graph.nodes[3].slot_sharing_group == "default");
}

TEST_CASE("a union of different types is refused") {
  testing_pipeline p;
  const auto left = p.source();
  const auto right = p.source();
  p.at(right).output_type = logical_type::row({{"s", logical_type::string(), {}}}).not_null();
  p.sink(p.merge({left, right}));

  const auto graph = make_stream_graph(p.program, 1);

  REQUIRE_FALSE(graph);
  CHECK(graph.error().code == errc::type_mismatch);
}

TEST_CASE("a program without operators is refused") {
  const auto graph = make_stream_graph(pipeline{}, 1);

  REQUIRE_FALSE(graph);
  CHECK(graph.error().code == errc::invalid_graph);
}

TEST_SUITE_END();
