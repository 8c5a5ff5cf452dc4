#include "libgraph/job_graph/job_graph_codec.hpp"

#include "test/libgraph/testing_pipelines.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::graph;
using namespace headrace::testing;

TEST_SUITE_BEGIN("graph/job_graph/job_graph_codec");

namespace {

/// Decodes the job after a change to the message.
template <class Change>
result<job_graph> decoded_after(Change&& change) {
  capnp::MallocMessageBuilder arena;
  const auto whole = encode(full_job());
  arena.setRoot(*whole.view());
  auto root = arena.getRoot<schema::JobGraph>();
  change(root);
  return decode(root.asReader());
}

} // namespace

TEST_CASE("a job graph comes back as it went") {
  const auto job = full_job();

  const auto back = decode(*encode(job).view());

  REQUIRE(back);
  CHECK(*back == job);
  CHECK(graph_hash(*back) == job.hash);
}

TEST_CASE("a vertex comes back as it went") {
  for (const auto& job : {full_job(), windowed_sql_job(), connected_job(), async_job()})
    for (const auto& vertex : job.vertices) {
      message_builder<schema::JobVertex> out;
      encode(vertex, *out);

      const auto back = decode_vertex(*out.finish().view());

      REQUIRE(back);
      CHECK(*back == vertex);
    }
}

TEST_CASE("an unknown enumerator is an error that says which") {
  const auto partitioner = decoded_after([](schema::JobGraph::Builder job) {
    job.getVertices()[0].getOutputs()[0].getPartitioner().setKind(99);
  });
  const auto restart =
      decoded_after([](schema::JobGraph::Builder job) { job.getRestart().setKind(200); });

  REQUIRE_FALSE(partitioner);
  CHECK(partitioner.error() == error(errc::malformed_message, "unknown kind of partitioner: 99"));
  REQUIRE_FALSE(restart);
  CHECK(restart.error().code == errc::malformed_message);
}

TEST_CASE("a type that does not decode is an error") {
  const auto broken = decoded_after([](schema::JobGraph::Builder job) {
    auto type = job.getVertices()[0].getOperators()[0].getOutputType();
    type[0] = 250;
  });
  const auto missing = decoded_after([](schema::JobGraph::Builder job) {
    job.getVertices()[0].getOperators()[0].initOutputType(0);
  });

  CHECK_FALSE(broken);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == errc::malformed_message);
}

TEST_CASE("a graph that decodes is checked like any other") {
  const auto unordered = decoded_after(
      [](schema::JobGraph::Builder job) { job.getVertices()[0].getChain()[0].setFrom(100); });
  const auto unnamed = decoded_after([](schema::JobGraph::Builder job) { job.initVertices(0); });

  REQUIRE_FALSE(unordered);
  CHECK(unordered.error().code == errc::invalid_graph);
  REQUIRE_FALSE(unnamed);
  CHECK(unnamed.error().code == errc::invalid_graph);
}

TEST_CASE("counts beyond the limits are refused") {
  const auto many = decoded_after([](schema::JobGraph::Builder job) { job.initArguments(10'001); });

  REQUIRE_FALSE(many);
  CHECK(many.error().code == errc::malformed_message);
}

TEST_SUITE_END();
