#include "test/libgraph/testing_pipelines.hpp"
#include "libgraph/job_graph/job_graph.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>

namespace headrace::graph {
namespace {

using headrace::testing::connected_job;

/// What is said of the job once the operator of that name, at the head of its vertex, is changed.
std::string words_after(const std::string& name,
                        const std::function<void(job_vertex&, co_process_spec&)>& change) {
  auto job = connected_job();
  const auto found = std::find_if(job.vertices.begin(), job.vertices.end(), [&](const auto& each) {
    return each.operators.front().name == name;
  });
  REQUIRE(found != job.vertices.end());
  change(*found, std::get<co_process_spec>(found->operators.front().spec));
  const auto checked = validate(job);
  return checked ? std::string() : to_string(checked.error());
}

} // namespace

TEST_SUITE_BEGIN("graph/job_graph/co_process_check");

TEST_CASE("connected streams are valid, and each heads its chain") {
  const auto job = connected_job();

  CHECK(validate(job));
  CHECK(job.vertices.size() == 6); // two sources, and each of the four; the sink is chained
}

TEST_CASE("a connection without function or with a key on one side alone is refused") {
  CHECK(words_after("plain", [](job_vertex&, co_process_spec& spec) {
          spec.function = {};
        }).find("no function") != std::string::npos);
  CHECK(words_after("plain", [](job_vertex&, co_process_spec& spec) {
          spec.second_key_columns = {0};
        }).find("no key column") != std::string::npos);
  CHECK(words_after("by key", [](job_vertex&, co_process_spec& spec) {
          spec.second_key_columns = {0, 0};
        }).find("keys of 1 and of 2 columns") != std::string::npos);
  CHECK(words_after("by key", [](job_vertex&, co_process_spec& spec) {
          spec.second_key_columns = {3};
        }).find("key column out of range") != std::string::npos);
}

TEST_CASE("keys of different types are refused with both") {
  const auto words = words_after("by key", [](job_vertex& vertex, co_process_spec&) {
    vertex.operators.front().input_types[1] =
        logical_type::row({{"f0", logical_type::string(), {}}}).not_null();
  });

  CHECK(words.find("the inputs have keys of different types: ") != std::string::npos);
  CHECK(words.find("STRING") != std::string::npos);
}

TEST_CASE("what is broadcast has no key, and is broadcast") {
  CHECK(words_after("ruled by key", [](job_vertex&, co_process_spec& spec) {
          spec.second_key_columns = {0};
        }).find("broadcast, so its rows have no key") != std::string::npos);
  CHECK(words_after("plain", [](job_vertex&, co_process_spec& spec) {
          spec.is_broadcast = true;
        }).find("its second input must be broadcast") != std::string::npos);
}

TEST_SUITE_END();

} // namespace headrace::graph
