#include "libtask/operator/window/window_aggregate_operator.hpp"

#include "test/support/batches.hpp"
#include "test/support/operator_harness.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

namespace headrace::task {
namespace {

using graph::aggregate_kind;
using graph::window_kind;
using testing::operator_harness;
using testing::timed_words;
using testing::word_rows;

graph::operator_node node_of(graph::window_spec window, std::int32_t late_side = -1) {
  graph::window_aggregate_spec spec;
  spec.key_columns = {0};
  spec.window = window;
  spec.aggregates.calls = {{aggregate_kind::first, 0}, {aggregate_kind::sum, 1}};
  spec.aggregates.result_type = graph::logical_type::null();
  spec.late_side = late_side;
  graph::operator_node node;
  node.spec = spec;
  node.input_types = {*testing::word_type()};
  node.output_type = *testing::word_type();
  if (late_side >= 0)
    node.side_types = {*testing::word_type()};
  return node;
}

/// All rows with the batch's timestamps, sorted: "word,sum@time".
std::multiset<std::string> rows_of(const std::vector<graph::record_batch>& batches) {
  std::multiset<std::string> out;
  for (const auto& batch : batches) {
    const auto rows = testing::words_of(batch);
    for (std::size_t i = 0; i < rows.size(); ++i)
      out.insert(rows[i].first + ',' + std::to_string(rows[i].second) +
                 (batch.timestamps() == nullptr
                      ? std::string()
                      : '@' + std::to_string(batch.timestamps()[batch.row_at(i)])));
  }
  return out;
}
using rows = std::multiset<std::string>;

TEST_SUITE_BEGIN("task/operator/window/window_aggregate_operator");

TEST_CASE("a tumbling window fires when the watermark reaches its last millisecond") {
  operator_harness harness(node_of({window_kind::tumbling, 10, 0, 0, 0}),
                           make_window_aggregate_operator);
  REQUIRE(harness.push(timed_words({{"a", 1}, {"b", 2}, {"a", 3}, {"a", 10}}, {0, 5, 9, 10})));

  REQUIRE(harness.advance(8));
  CHECK(harness.take().empty());
  REQUIRE(harness.advance(9));
  CHECK(rows_of(harness.take()) == rows{"a,4@9", "b,2@9"});
  REQUIRE(harness.advance(100));
  CHECK(rows_of(harness.take()) == rows{"a,10@19"});
}

TEST_CASE("the bounds of a window are columns behind its results where there is place") {
  auto node = node_of({window_kind::sliding, 10, 5, 0, 0});
  auto& spec = std::get<graph::window_aggregate_spec>(node.spec);
  spec.aggregates.result_type = node.output_type;
  auto fields = node.output_type.fields();
  for (const auto* name : {"start", "end", "time"})
    fields.push_back({name, graph::logical_type::timestamp(3).not_null(), {}});
  node.output_type = graph::logical_type::row(std::move(fields)).not_null();
  operator_harness harness(node, make_window_aggregate_operator);

  REQUIRE(harness.push(timed_words({{"a", 1}, {"b", 2}}, {7, 8})));
  REQUIRE(harness.end_input());

  const auto got = harness.take();
  REQUIRE(got.size() == 2);
  CHECK(rows_of(got) == rows{"a,1@9", "b,2@9", "a,1@14", "b,2@14"});
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::int64_t start = i == 0 ? 0 : 5;
    for (std::size_t row = 0; row < got[i].row_count(); ++row) {
      CHECK(got[i].at(2).values<std::int64_t>()[row] == start);
      CHECK(got[i].at(3).values<std::int64_t>()[row] == start + 10);
      CHECK(got[i].at(4).values<std::int64_t>()[row] == start + 9);
    }
  }
}

TEST_CASE("windows fire oldest first, and all at the end of input") {
  operator_harness harness(node_of({window_kind::tumbling, 10, 0, 0, 0}),
                           make_window_aggregate_operator);
  REQUIRE(harness.push(timed_words({{"a", 1}, {"a", 2}, {"a", 3}}, {25, 5, 15})));
  REQUIRE(harness.end_input());
  const auto got = harness.take();
  REQUIRE(got.size() == 3);
  CHECK(testing::words_of(got[0]) == word_rows{{"a", 2}});
  CHECK(testing::words_of(got[2]) == word_rows{{"a", 1}});
}

TEST_CASE("a late row is counted and dropped, or goes to the late side output") {
  operator_harness counting(node_of({window_kind::tumbling, 10, 0, 0, 0}),
                            make_window_aggregate_operator);
  REQUIRE(counting.advance(9));
  REQUIRE(counting.push(timed_words({{"a", 1}, {"b", 1}}, {3, 12})));
  CHECK(counting.metrics().late_records.value() == 1);

  operator_harness routing(node_of({window_kind::tumbling, 10, 0, 0, 0}, 0),
                           make_window_aggregate_operator);
  REQUIRE(routing.advance(9));
  REQUIRE(routing.push(timed_words({{"a", 1}, {"b", 1}}, {3, 12})));
  CHECK(rows_of(routing.take_side(0)) == rows{"a,1@3"});
  CHECK(routing.metrics().late_records.value() == 0);
}

TEST_CASE("within the allowed lateness a fired window is emitted anew, once a key and batch") {
  operator_harness harness(node_of({window_kind::tumbling, 10, 0, 0, 5}),
                           make_window_aggregate_operator);
  REQUIRE(harness.push(timed_words({{"a", 1}, {"b", 7}}, {3, 4})));
  REQUIRE(harness.advance(9));
  CHECK(rows_of(harness.take()) == rows{"a,1@9", "b,7@9"});

  REQUIRE(harness.push(timed_words({{"a", 10}, {"a", 100}}, {5, 6})));
  CHECK(rows_of(harness.take()) == rows{"a,111@9"});

  REQUIRE(harness.advance(14));
  REQUIRE(harness.push(timed_words({{"a", 1}}, {5})));
  CHECK(harness.take().empty());
  CHECK(harness.metrics().late_records.value() == 1);
}

TEST_CASE("many late rows of many fired windows give each key of each window once") {
  operator_harness harness(node_of({window_kind::tumbling, 10, 0, 0, 1'000'000}),
                           make_window_aggregate_operator);
  testing::word_rows late;
  std::vector<std::int64_t> times;
  constexpr std::int64_t count = 100'000;
  for (std::int64_t i = 0; i < count; ++i) {
    late.emplace_back(std::to_string(i % 25'000), 1);
    times.push_back(i % 4 * 10);
  }
  REQUIRE(harness.push(timed_words(late, times)));
  REQUIRE(harness.advance(39));
  harness.take();

  REQUIRE(harness.push(timed_words(late, times)));
  const auto again = rows_of(harness.take());
  REQUIRE(again.size() == 25'000);
  CHECK(again.count("0,8@9") == 1);
  CHECK(again.count("24999,8@39") == 1);
}

TEST_CASE("a row counts in each sliding window that covers it") {
  operator_harness harness(node_of({window_kind::sliding, 10, 5, 0, 0}),
                           make_window_aggregate_operator);
  REQUIRE(harness.push(timed_words({{"a", 1}, {"a", 2}}, {3, 7})));
  REQUIRE(harness.end_input());
  CHECK(rows_of(harness.take()) == rows{"a,1@4", "a,3@9", "a,2@14"});
}

TEST_CASE("an end-of-stream window needs no timestamps and fires at the end only") {
  operator_harness harness(node_of({window_kind::end_of_stream, 0, 0, 0, 0}),
                           make_window_aggregate_operator);
  REQUIRE(harness.push(testing::words({{"a", 1}, {"b", 2}, {"a", 3}})));
  REQUIRE(harness.advance(1'000'000));
  CHECK(harness.take().empty());
  REQUIRE(harness.end_input());
  CHECK(rows_of(harness.take()) == rows{"a,4", "b,2"});
}

TEST_CASE("a large window fires in pieces no larger than the budget") {
  operator_harness harness(node_of({window_kind::tumbling, 10, 0, 0, 0}),
                           make_window_aggregate_operator);
  word_rows many;
  for (int i = 0; i < 1000; ++i)
    many.emplace_back("word" + std::to_string(i), i);
  REQUIRE(harness.push(timed_words(many, std::vector<std::int64_t>(1000, 1))));
  harness.set_budget(64);
  harness.take_drains();

  REQUIRE(harness.advance(9));

  const auto got = harness.take();
  CHECK(std::all_of(got.begin(), got.end(), [](const auto& each) { return each.size() <= 64; }));
  CHECK(rows_of(got).size() == 1000);
  CHECK(harness.take_drains() > 15);
}

TEST_CASE("rows without timestamps are refused with what to do") {
  operator_harness harness(node_of({window_kind::tumbling, 10, 0, 0, 0}),
                           make_window_aggregate_operator);
  const auto refused = harness.push(testing::words({{"a", 1}}));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("assign timestamps") != std::string::npos);
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::task
