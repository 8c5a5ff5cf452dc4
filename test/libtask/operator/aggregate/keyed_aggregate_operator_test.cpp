#include "libtask/operator/aggregate/keyed_aggregate_operator.hpp"

#include "test/support/batches.hpp"
#include "test/support/operator_harness.hpp"
#include "test/support/seed.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace headrace::task {
namespace {

using graph::aggregate_kind;
using testing::operator_harness;
using testing::word_rows;

graph::operator_node node_of(std::vector<graph::aggregate_call> calls) {
  graph::keyed_aggregate_spec spec;
  spec.key_columns = {0};
  spec.aggregates.calls = std::move(calls);
  graph::operator_node node;
  node.spec = spec;
  node.input_types = {*testing::word_type()};
  node.output_type = *testing::word_type();
  return node;
}

word_rows rows_of(const std::vector<graph::record_batch>& batches) {
  word_rows out;
  for (const auto& batch : batches)
    for (auto& row : testing::words_of(batch))
      out.push_back(row);
  return out;
}

TEST_SUITE_BEGIN("task/operator/aggregate/keyed_aggregate_operator");

TEST_CASE("each row gives its key's value so far, in the order of the rows") {
  operator_harness harness(node_of({{aggregate_kind::first, 0}, {aggregate_kind::sum, 1}}),
                           make_keyed_aggregate_operator);
  REQUIRE(harness.push(testing::words({{"a", 1}, {"b", 10}, {"a", 2}, {"a", 3}})));
  REQUIRE(harness.push(testing::words({{"b", 1}})));
  CHECK(rows_of(harness.take()) == word_rows{{"a", 1}, {"b", 10}, {"a", 3}, {"a", 6}, {"b", 11}});
}

TEST_CASE("event times stay with their rows") {
  operator_harness harness(node_of({{aggregate_kind::first, 0}, {aggregate_kind::max, 1}}),
                           make_keyed_aggregate_operator);
  REQUIRE(harness.push(testing::timed_words({{"a", 5}, {"a", 2}}, {70, 60})));
  const auto got = harness.take();
  REQUIRE(got.size() == 1);
  CHECK(got[0].timestamps()[0] == 70);
  CHECK(got[0].timestamps()[1] == 60);
  CHECK(testing::words_of(got[0]) == word_rows{{"a", 5}, {"a", 5}});
}

TEST_CASE("random rows give what a map of sums gives") {
  const auto random = make_seeded_random(testing::seed());
  operator_harness harness(node_of({{aggregate_kind::first, 0}, {aggregate_kind::sum, 1}}),
                           make_keyed_aggregate_operator);
  std::map<std::string, std::int64_t> sums;
  word_rows expected;
  for (int batch = 0; batch < 50; ++batch) {
    word_rows in;
    const auto keys = 1 + random->below(300);
    for (std::uint64_t i = 0; i < 1 + random->below(500); ++i) {
      in.emplace_back("a key that is long enough for a heap " + std::to_string(random->below(keys)),
                      static_cast<std::int64_t>(random->below(1000)) - 500);
      expected.emplace_back(in.back().first, sums[in.back().first] += in.back().second);
    }
    REQUIRE(harness.push(testing::words(in)));
  }
  CHECK(rows_of(harness.take()) == expected);
}

TEST_CASE("a large batch of one key takes no longer than one of many") {
  operator_harness harness(node_of({{aggregate_kind::first, 0}, {aggregate_kind::sum, 1}}),
                           make_keyed_aggregate_operator);
  constexpr std::int64_t rows = 300'000; // the square of it would take minutes
  word_rows in;
  for (std::int64_t i = 0; i < rows; ++i)
    in.emplace_back("a", 1);
  REQUIRE(harness.push(testing::words(in)));
  const auto out = rows_of(harness.take());
  REQUIRE(out.size() == rows);
  CHECK(out.front() == word_rows::value_type{"a", 1});
  CHECK(out.back() == word_rows::value_type{"a", rows});
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::task
