#include "test/support/batches.hpp"
#include "test/support/chain_harness.hpp"
#include "libtask/operator/window/window_aggregate_operator.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::testing;

namespace {

/// The sum of `n` by `word` and window.
graph::job_vertex summing(graph::window_spec window, std::int32_t late_side = -1) {
  graph::window_aggregate_spec spec;
  spec.key_columns = {0};
  spec.window = window;
  spec.aggregates.calls = {{graph::aggregate_kind::first, 0}, {graph::aggregate_kind::sum, 1}};
  spec.late_side = late_side;
  auto vertex = vertex_of(spec, *word_type(), *word_type());
  if (late_side >= 0)
    vertex.operators[0].side_types = {*word_type()};
  return vertex;
}

graph::window_spec tumbling(std::int64_t size_ms, std::int64_t lateness_ms = 0) {
  return {graph::window_kind::tumbling, size_ms, 0, 0, lateness_ms};
}

word_rows rows_of(chain_harness& harness, std::size_t result = 0) {
  word_rows out;
  for (const auto& batch : harness.take_batches(result))
    for (auto& row : words_of(batch))
      out.push_back(std::move(row));
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace

TEST_SUITE("task/operator/window_chain") {
TEST_CASE("a tumbling window fires when the watermark reaches its last millisecond") {
  chain_harness harness(summing(tumbling(10)));
  harness.open();
  harness.push(timed_words({{"a", 1}, {"b", 2}, {"a", 4}, {"a", 8}}, {1, 9, 9, 10}));

  harness.watermark(8);
  CHECK(rows_of(harness).empty());
  harness.watermark(9);
  CHECK(rows_of(harness) == word_rows{{"a", 5}, {"b", 2}});
  harness.watermark(graph::watermark::end);
  CHECK(rows_of(harness) == word_rows{{"a", 8}});
}

TEST_CASE("a sliding window takes a row into each window that covers it") {
  chain_harness harness(summing({graph::window_kind::sliding, 10, 5, 0, 0}));
  harness.open();
  harness.push(timed_words({{"a", 1}, {"a", 2}}, {3, 7}));

  harness.watermark(4);
  CHECK(rows_of(harness) == word_rows{{"a", 1}});
  harness.watermark(9);
  CHECK(rows_of(harness) == word_rows{{"a", 3}});
  harness.watermark(14);
  CHECK(rows_of(harness) == word_rows{{"a", 2}});
  harness.watermark(graph::watermark::end);
  CHECK(rows_of(harness).empty());
}

TEST_CASE("a window of many keys fires in bounded pieces") {
  chain_harness harness(summing(tumbling(10)));
  harness.open();
  word_rows rows;
  for (int i = 0; i < 500; ++i)
    rows.emplace_back("word" + std::to_string(i), i);
  harness.push(timed_words(rows, std::vector<std::int64_t>(rows.size(), 1)));

  harness.watermark(9);

  std::size_t fired = 0;
  for (const auto& batch : harness.take_batches()) {
    CHECK(batch.size() <= 3);
    fired += batch.size();
  }
  CHECK(fired == 500);
}

TEST_CASE("late rows are counted, or go to the side output") {
  chain_harness counted(summing(tumbling(10)));
  counted.open();
  counted.watermark(20);
  counted.push(timed_words({{"a", 1}, {"b", 1}}, {5, 25}));
  CHECK(counted.metrics.late_records.value() == 1);

  auto vertex = summing(tumbling(10), 0);
  vertex.outputs.push_back({{1, 1}, 0, -1, {}, {}});
  vertex.outputs.push_back({{1, 2}, 0, 0, {}, {}});
  chain_harness kept(vertex);
  kept.open();
  kept.watermark(20);
  kept.push(timed_words({{"a", 1}, {"b", 1}}, {5, 25}));
  CHECK(rows_of(kept, 1) == word_rows{{"a", 1}});
  CHECK(kept.metrics.late_records.value() == 0);
}

TEST_CASE("allowed lateness fires a window again with what came late") {
  chain_harness harness(summing(tumbling(10, 100)));
  harness.open();
  harness.push(timed_words({{"a", 1}}, {5}));
  harness.watermark(20);
  CHECK(rows_of(harness) == word_rows{{"a", 1}});

  harness.push(timed_words({{"a", 2}}, {6}));
  CHECK(rows_of(harness) == word_rows{{"a", 3}});
  harness.watermark(110);
  harness.push(timed_words({{"a", 2}}, {6}));
  CHECK(rows_of(harness).empty());
  CHECK(harness.metrics.late_records.value() == 1);
}

TEST_CASE("a window at the end of the stream needs no timestamps") {
  chain_harness harness(summing({graph::window_kind::end_of_stream, 0, 0, 0, 0}));
  harness.open();
  harness.push(words({{"a", 1}, {"b", 2}}));
  harness.push(words({{"a", 3}}));
  CHECK(rows_of(harness).empty());

  harness.end();

  CHECK(rows_of(harness) == word_rows{{"a", 4}, {"b", 2}});
}

TEST_CASE("open windows are there after a restore") {
  state::task_state_snapshot stored;
  {
    chain_harness harness(summing(tumbling(10)));
    harness.open();
    harness.push(timed_words({{"a", 1}, {"b", 2}, {"c", 3}}, {1, 2, 11}));
    stored = harness.snapshot(1);
  }
  chain_harness harness(summing(tumbling(10)));
  harness.open(stored);
  harness.push(timed_words({{"a", 10}}, {3}));
  harness.watermark(9);
  CHECK(rows_of(harness) == word_rows{{"a", 11}, {"b", 2}});
  harness.watermark(19);
  CHECK(rows_of(harness) == word_rows{{"c", 3}});
}
} // TEST_SUITE("task/operator/window_chain")

TEST_SUITE("task/operator/aggregate_chain") {
TEST_CASE("each row gives the running value of its key") {
  graph::keyed_aggregate_spec spec;
  spec.key_columns = {0};
  spec.aggregates.calls = {{graph::aggregate_kind::first, 0}, {graph::aggregate_kind::sum, 1}};
  chain_harness harness(vertex_of(spec, *word_type(), *word_type()));
  harness.open();

  harness.push(words({{"a", 1}, {"b", 2}, {"a", 3}, {"a", 4}}));

  word_rows out;
  for (const auto& batch : harness.take_batches())
    for (auto& row : words_of(batch))
      out.push_back(std::move(row));
  CHECK(out == word_rows{{"a", 1}, {"b", 2}, {"a", 4}, {"a", 8}});
}
} // TEST_SUITE("task/operator/aggregate_chain")
