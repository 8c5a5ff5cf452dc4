#include "test/libgraph/testing_pipelines.hpp"
#include "libgraph/job_graph/job_graph.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <string>

namespace headrace::graph {
namespace {

/// What is said of the job once its async function is changed.
std::string words_after(const std::function<void(async_wait_spec&)>& change) {
  auto job = testing::async_job();
  for (auto& vertex : job.vertices)
    for (auto& node : vertex.operators)
      if (auto* spec = std::get_if<async_wait_spec>(&node.spec))
        change(*spec);
  const auto checked = validate(job);
  return checked ? std::string() : to_string(checked.error());
}
bool says(const std::string& words, const char* wanted) {
  return words.find(wanted) != std::string::npos;
}

} // namespace

TEST_SUITE_BEGIN("graph/job_graph/async_wait_check");

TEST_CASE("async functions are chained with what is before and behind them") {
  CHECK(words_after([](async_wait_spec&) {}).empty());
  CHECK(testing::async_job().vertices.size() == 1);
}

TEST_CASE("numbers that cannot be are refused") {
  CHECK(says(words_after([](async_wait_spec& spec) { spec.function = {}; }), "function"));
  for (const std::int64_t capacity : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1'000'001}})
    CHECK(says(words_after([&](async_wait_spec& spec) { spec.capacity = capacity; }), "capacity"));
  CHECK(says(words_after([](async_wait_spec& spec) { spec.timeout_ms = -1; }), "timeout"));
  CHECK(says(words_after([](async_wait_spec& spec) { spec.retry.attempts_max = -1; }), "retries"));
  CHECK(says(words_after([](async_wait_spec& spec) { spec.retry.delay_ms = -1; }), "retries"));
  CHECK(says(words_after([](async_wait_spec& spec) { spec.retry.multiplier = 0.5; }), "retries"));
  CHECK(says(words_after([](async_wait_spec& spec) {
               spec.retry.multiplier = std::numeric_limits<double>::quiet_NaN();
             }),
             "retries"));
}

TEST_SUITE_END();

} // namespace headrace::graph
