#include "test/support/changelog.hpp"
#include "test/support/operator_harness.hpp"
#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"
#include "libtask/operator/rank/rank_operator.hpp"
#include "libtask/operator/window/session_group_operator.hpp"
#include "libtask/operator/window/window_group_operator.hpp"
#include "libtask/operator/window/window_table_operator.hpp"
#include "libgraph/data/batch_builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

// Operators of SQL's windows: what finds them, and what aggregates and ranks rows that carry them.
namespace headrace::task {
namespace {

using graph::logical_type;
using graph::window_kind;
using testing::changes_of;
using testing::operator_harness;
using lines = std::vector<std::string>;

/// k, v, text, time; perhaps the start and end of its window.
struct input_row {
  std::int64_t k = 0;
  std::int32_t v = 0;
  std::string text = {};
  std::int64_t time_ms = 0;
  std::int64_t start_ms = 0;
  std::int64_t end_ms = 0;
};

std::vector<logical_type::field> fields_of(bool carries_window) {
  std::vector<logical_type::field> out{{"k", logical_type::bigint(), {}},
                                       {"v", logical_type::integer(), {}},
                                       {"s", logical_type::string(), {}},
                                       {"t", logical_type::timestamp(3), {}}};
  if (carries_window)
    for (const auto* name : {"window_start", "window_end"})
      out.push_back({name, logical_type::timestamp(3).not_null(), {}});
  return out;
}

graph::record_batch batch_of(const std::vector<input_row>& rows, bool carries_window = false) {
  graph::batch_builder out(
      std::make_shared<const logical_type>(logical_type::row(fields_of(carries_window))));
  for (const auto& row : rows) {
    out.column(0).append(row.k);
    out.column(1).append(row.v);
    out.column(2).append_string(row.text);
    out.column(3).append(row.time_ms);
    if (carries_window) {
      out.column(4).append(row.start_ms);
      out.column(5).append(row.end_ms);
    }
    out.end_row(row.time_ms);
  }
  return out.finish();
}

void add_bounds(std::vector<logical_type::field>& to) {
  for (const auto* name : {"window_start", "window_end", "window_time"})
    to.push_back({name, logical_type::timestamp(3).not_null(), {}});
}

graph::operator_node node_of(graph::operator_spec spec, std::vector<logical_type::field> output,
                             bool carries_window = false) {
  graph::operator_node node;
  node.id = {1, 2};
  node.name = "window";
  node.spec = std::move(spec);
  node.input_types = {logical_type::row(fields_of(carries_window))};
  node.output_type = logical_type::row(std::move(output));
  return node;
}

graph::operator_node table_node(graph::window_spec window,
                                std::vector<std::int32_t> key_columns = {}) {
  auto output = fields_of(false);
  add_bounds(output);
  return node_of(graph::window_table_spec{std::move(window), 3, std::move(key_columns)},
                 std::move(output));
}

struct wanted_call {
  graph::group_aggregate_call call;
  logical_type type;
};
const wanted_call count_rows{{"COUNT", {}}, logical_type::bigint().not_null()};
const wanted_call sum_v{{"SUM", {1}}, logical_type::integer()};
const wanted_call max_v{{"MAX", {1}}, logical_type::integer()};
const wanted_call first_v{{"FIRST_VALUE", {1}}, logical_type::integer()};
const wanted_call distinct_v{{"COUNT", {1}, -1, true}, logical_type::bigint().not_null()};
const wanted_call min_s{{"MIN", {2}}, logical_type::string()};

std::vector<logical_type::field> group_output(const std::vector<wanted_call>& calls,
                                              bool bounds_are_keys) {
  std::vector<logical_type::field> out{{"k", logical_type::bigint(), {}}};
  if (bounds_are_keys)
    for (const auto* name : {"start", "end"})
      out.push_back({name, logical_type::timestamp(3).not_null(), {}});
  for (const auto& each : calls)
    out.push_back({"c" + std::to_string(out.size()), each.type, {}});
  add_bounds(out);
  return out;
}

std::string time_text(std::int64_t time_ms) {
  graph::batch_builder one(std::make_shared<const logical_type>(
      logical_type::row({{"t", logical_type::timestamp(3), {}}})));
  one.column(0).append(time_ms);
  one.end_row();
  const auto whole = changes_of({one.finish()})[0];
  return whole.substr(3, whole.size() - 4);
}

std::string bounds_text(std::int64_t start_ms, std::int64_t end_ms) {
  return time_text(start_ms) + ", " + time_text(end_ms) + ", " + time_text(end_ms - 1);
}

/// The bounds of each row: "text start end", in milliseconds.
lines windows_of(const std::vector<graph::record_batch>& batches) {
  lines out;
  for (const auto& batch : batches)
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto row = batch.row_at(i);
      const auto start = batch.at(4).values<std::int64_t>()[row];
      const auto end = batch.at(5).values<std::int64_t>()[row];
      CHECK(batch.at(6).values<std::int64_t>()[row] == end - 1);
      out.push_back(std::string(batch.at(2).string_at(row)) + " " + std::to_string(start) + " " +
                    std::to_string(end));
    }
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace

TEST_SUITE_BEGIN("task/operator/window/sql_window_operators");

TEST_CASE("rows get the bounds of each of their windows") {
  const auto given = [](graph::window_spec window, const std::vector<input_row>& rows) {
    operator_harness harness(table_node(std::move(window)), make_window_table_operator);
    REQUIRE(harness.push(batch_of(rows)));
    return windows_of(harness.take());
  };

  CHECK(given({window_kind::tumbling, 10, 0, 3, 0}, {{1, 1, "a", 12}, {1, 1, "b", 13}}) ==
        lines{"a 3 13", "b 13 23"});
  // Times before 1970 are rounded down, too.
  CHECK(given({window_kind::tumbling, 10, 0, 0, 0}, {{1, 1, "a", -1}}) == lines{"a -10 0"});
  CHECK(given({window_kind::sliding, 10, 5, 0, 0}, {{1, 1, "a", 12}}) ==
        lines{"a 10 20", "a 5 15"});
  CHECK(given({window_kind::cumulating, 15, 5, 0, 0}, {{1, 1, "a", 7}, {1, 1, "b", 15}}) ==
        lines{"a 0 10", "a 0 15", "b 15 20", "b 15 25", "b 15 30"});
}

TEST_CASE("windows of instants begin where the zone's clocks are round") {
  graph::window_spec day{window_kind::tumbling, 86'400'000, 0, 0, 0};
  day.time_zone = "Europe/Berlin";
  operator_harness harness(table_node(day), make_window_table_operator);

  // 2024-06-30 23:30 UTC is 01:30 of the next day in Berlin.
  const std::int64_t instant = 1'719'790'200'000;
  REQUIRE(harness.push(batch_of({{1, 1, "a", instant}})));

  CHECK(windows_of(harness.take()) == lines{"a 1719792000000 1719878400000"});
}

TEST_CASE("by processing time a row is in the window of now") {
  graph::window_spec window{window_kind::tumbling, 1000, 0, 0, 0};
  window.is_processing_time = true;
  operator_harness harness(table_node(window), make_window_table_operator);
  const auto now = harness.clock().wall_ms();

  REQUIRE(harness.push(batch_of({{1, 1, "a", 5}})));

  const auto start = now - now % 1000;
  CHECK(windows_of(harness.take()) ==
        lines{"a " + std::to_string(start) + " " + std::to_string(start + 1000)});
}

TEST_CASE("groups of a window are emitted once, when it is over") {
  for (const auto* backend : {"hashmap", "rocksdb"}) {
    for (const bool has_states : {false, true}) {
      std::vector<wanted_call> calls{count_rows, sum_v};
      if (has_states) {
        calls.push_back(distinct_v);
        calls.push_back(min_s);
      }
      graph::window_group_spec spec;
      spec.key_columns = {0};
      if (has_states)
        spec.key_columns = {0, 4, 5};
      for (const auto& each : calls)
        spec.calls.push_back(each.call);
      spec.start_column = 4;
      spec.end_column = 5;
      operator_harness harness(node_of(spec, group_output(calls, has_states), true),
                               make_window_group_operator, {}, backend);

      REQUIRE(harness.push(batch_of({{1, 5, "b", 1, 0, 10},
                                     {1, 5, "a", 2, 0, 10},
                                     {2, 1, "c", 3, 0, 10},
                                     {1, 9, "d", 12, 10, 20}},
                                    true)));
      CHECK(harness.take().empty());
      REQUIRE(harness.advance(9));
      auto given = changes_of(harness.take());
      std::sort(given.begin(), given.end());
      const auto keys = [&](const char* k, std::int64_t start, std::int64_t end) {
        return std::string("+I[") + k + ", " +
               (has_states ? time_text(start) + ", " + time_text(end) + ", " : "");
      };
      CHECK(given == lines{keys("1", 0, 10) + "2, 10, " + (has_states ? "1, a, " : "") +
                               bounds_text(0, 10) + "]",
                           keys("2", 0, 10) + "1, 1, " + (has_states ? "1, c, " : "") +
                               bounds_text(0, 10) + "]"});
      // The first window is over: late. The second is open yet.
      REQUIRE(harness.push(batch_of({{1, 5, "b", 4, 0, 10}, {1, 1, "e", 13, 10, 20}}, true)));
      CHECK(harness.metrics().late_records.value() == 1);
      REQUIRE(harness.advance(graph::watermark::end));
      CHECK(changes_of(harness.take()) ==
            lines{keys("1", 10, 20) + "2, 10, " + (has_states ? "2, d, " : "") +
                  bounds_text(10, 20) + "]"});
    }
  }
}

TEST_CASE("by processing time the clock fires, and the end of the input does not") {
  graph::window_group_spec spec;
  spec.key_columns = {0};
  spec.calls = {count_rows.call};
  spec.start_column = 4;
  spec.end_column = 5;
  spec.is_processing_time = true;
  operator_harness harness(node_of(spec, group_output({count_rows}, false), true),
                           make_window_group_operator);
  const auto start = harness.clock().wall_ms() / 1000 * 1000;

  REQUIRE(harness.push(batch_of({{1, 5, "a", 1, start, start + 1000}}, true)));
  REQUIRE(harness.advance(graph::watermark::end));
  REQUIRE(harness.end_input());
  CHECK(harness.take().empty());
  harness.clock().advance_ms(1000);
  REQUIRE(harness.tick());
  CHECK(changes_of(harness.take()) == lines{"+I[1, 1, " + bounds_text(start, start + 1000) + "]"});
}

TEST_CASE("ranks of a window are given once, when it is over") {
  graph::rank_spec spec;
  spec.key_columns = {0, 4, 5};
  spec.order = {{1, true, false}};
  spec.last = 2;
  spec.outputs_rank = true;
  spec.window_end_column = 5;
  auto output = fields_of(true);
  output.push_back({"n", logical_type::bigint().not_null(), {}});
  operator_harness harness(node_of(spec, output, true), make_rank_operator);

  REQUIRE(harness.push(batch_of(
      {{1, 5, "a", 1, 0, 10}, {1, 7, "b", 1, 0, 10}, {1, 5, "c", 1, 0, 10}, {1, 9, "d", 1, 10, 20}},
      true)));
  CHECK(harness.take().empty());
  REQUIRE(harness.advance(9));
  const auto row = [](const char* rest, std::int64_t start, const char* rank) {
    return std::string("+I[1, ") + rest + ", " + time_text(1) + ", " + time_text(start) + ", " +
           time_text(start + 10) + ", " + rank + "]";
  };
  CHECK(changes_of(harness.take()) == lines{row("7, b", 0, "1"), row("5, a", 0, "2")});
  REQUIRE(harness.push(batch_of({{1, 5, "e", 1, 0, 10}}, true)));
  CHECK(harness.metrics().late_records.value() == 1);
  REQUIRE(harness.advance(19));
  CHECK(changes_of(harness.take()) == lines{row("9, d", 10, "1")});
}

TEST_CASE("all rows of a window are given in order, however many they are") {
  testing::dice random(testing::seed());
  graph::rank_spec spec;
  spec.key_columns = {0, 5};
  spec.order = {{1, true, false}};
  spec.first = 2;
  spec.last = std::numeric_limits<std::int64_t>::max();
  spec.outputs_rank = true;
  spec.window_end_column = 5;
  auto output = fields_of(true);
  output.push_back({"n", logical_type::bigint().not_null(), {}});
  for (const auto* backend : {"hashmap", "rocksdb"}) {
    operator_harness harness(node_of(spec, output, true), make_rank_operator, {}, backend);
    std::map<std::int64_t, std::vector<input_row>> kept; // of the window that ends at 10, by key
    const auto count = 3 * 4096;                         // some pieces of output
    for (int row = 0; row < count;) {
      std::vector<input_row> batch;
      for (int i = 0; i < 512; ++i, ++row) {
        input_row made;
        made.k = random.below(8) == 0 ? 2 : 1;
        made.v = static_cast<std::int32_t>(random.below(1000));
        made.text = std::to_string(row);
        made.end_ms = random.below(8) == 0 ? 20 : 10;
        batch.push_back(made);
        if (made.end_ms == 10)
          kept[made.k].push_back(made);
      }
      REQUIRE(harness.push(batch_of(batch, true)));
    }
    lines expected;
    for (auto& [key, rows] : kept) {
      std::stable_sort(rows.begin(), rows.end(),
                       [](const auto& left, const auto& right) { return left.v > right.v; });
      for (std::size_t i = 1; i < rows.size(); ++i)
        expected.push_back("+I[" + std::to_string(key) + ", " + std::to_string(rows[i].v) + ", " +
                           rows[i].text + ", " + time_text(0) + ", " + time_text(0) + ", " +
                           time_text(10) + ", " + std::to_string(i + 1) + "]");
    }
    REQUIRE(harness.advance(9));
    const auto got = changes_of(harness.take());
    for (const auto* key : {"+I[1,", "+I[2,"}) { // keys come in any order
      const auto of_key = [&](const lines& all) {
        lines out;
        for (const auto& each : all)
          if (each.starts_with(key))
            out.push_back(each);
        return out;
      };
      CHECK(of_key(got) == of_key(expected));
    }
    CHECK(got.size() == expected.size());
  }
}

TEST_CASE("sessions of random rows are those that gaps leave") {
  testing::dice random(testing::seed());
  constexpr std::int64_t gap = 10;
  const std::vector<wanted_call> calls{count_rows, sum_v, max_v};
  for (int run = 0; run < testing::runs(30); ++run) {
    graph::window_spec window{window_kind::session, gap, 0, 0, 0};
    graph::session_group_spec spec{{0}, {}, window, 3};
    for (const auto& each : calls)
      spec.calls.push_back(each.call);
    const auto* backend = random.one_in(2) ? "hashmap" : "rocksdb";
    operator_harness groups(node_of(spec, group_output(calls, false)), make_session_group_operator,
                            {}, backend);
    operator_harness table(table_node(window, {0}), make_window_table_operator, {}, backend);
    std::map<std::int64_t, std::vector<input_row>> all;
    int names = 0;
    std::int64_t watermark = 0;
    lines group_lines;
    lines table_lines;
    for (int round = 0; round < 10; ++round) {
      std::vector<input_row> batch;
      for (auto count = random.below(8) + 1; count > 0; --count) {
        input_row made;
        made.k = static_cast<std::int64_t>(random.below(3));
        made.v = static_cast<std::int32_t>(random.below(100)) - 50;
        made.text = "row " + std::to_string(names++);
        // Behind all sessions that are over, so that it meets none of them.
        made.time_ms = watermark + 2 + static_cast<std::int64_t>(random.below(60));
        batch.push_back(made);
        all[made.k].push_back(made);
      }
      for (auto* each : {&groups, &table})
        REQUIRE(each->push(batch_of(batch)));
      if (random.one_in(3))
        for (auto* each : {&groups, &table})
          each->restart(1 + static_cast<std::int32_t>(random.below(3)),
                        random.one_in(2) ? "hashmap" : "rocksdb", {0},
                        state::snapshot_kind::canonical);
      watermark = round == 9 ? std::int64_t{1'000'000}
                             : watermark + static_cast<std::int64_t>(random.below(40));
      for (auto* each : {&groups, &table})
        REQUIRE(each->advance(watermark));
      for (const auto& each : changes_of(groups.take()))
        group_lines.push_back(each);
      for (const auto& each : windows_of(table.take()))
        table_lines.push_back(each);
    }
    CHECK(groups.metrics().late_records.value() == 0);
    lines expected_groups;
    lines expected_table;
    for (auto& [k, rows] : all) {
      std::stable_sort(rows.begin(), rows.end(), [](const input_row& left, const input_row& right) {
        return left.time_ms < right.time_ms;
      });
      for (std::size_t i = 0; i < rows.size();) {
        auto end = i + 1;
        while (end < rows.size() && rows[end].time_ms <= rows[end - 1].time_ms + gap)
          ++end;
        std::int32_t sum = 0;
        auto most = rows[i].v;
        const auto last = rows[end - 1].time_ms + gap;
        for (auto j = i; j < end; ++j) {
          sum += rows[j].v;
          most = std::max(most, rows[j].v);
          expected_table.push_back(rows[j].text + " " + std::to_string(rows[i].time_ms) + " " +
                                   std::to_string(last));
        }
        expected_groups.push_back("+I[" + std::to_string(k) + ", " + std::to_string(end - i) +
                                  ", " + std::to_string(sum) + ", " + std::to_string(most) + ", " +
                                  bounds_text(rows[i].time_ms, last) + "]");
        i = end;
      }
    }
    for (auto* each : {&group_lines, &expected_groups, &table_lines, &expected_table})
      std::sort(each->begin(), each->end());
    REQUIRE(group_lines == expected_groups);
    REQUIRE(table_lines == expected_table);
  }
}

TEST_CASE("a late row is counted, and one that meets an open session is not late") {
  graph::window_spec window{window_kind::session, 10, 0, 0, 0};
  graph::session_group_spec spec{{0}, {count_rows.call, first_v.call}, window, 3};
  operator_harness harness(node_of(spec, group_output({count_rows, first_v}, false)),
                           make_session_group_operator);
  REQUIRE(harness.push(batch_of({{1, 7, "a", 20}})));
  REQUIRE(harness.advance(25));

  REQUIRE(harness.push(batch_of({{1, 8, "b", 12}, {2, 9, "c", 12}})));
  CHECK(harness.metrics().late_records.value() == 1);
  REQUIRE(harness.advance(40));

  CHECK(changes_of(harness.take()) == lines{"+I[1, 2, 7, " + bounds_text(12, 30) + "]"});
}

TEST_CASE("late rows are given by a side output where somebody takes them, and not counted") {
  graph::window_group_spec spec{{0}, {count_rows.call}, 4, 5};
  auto node = node_of(spec, group_output({count_rows}, false), true);
  node.side_types = node.input_types;
  operator_harness groups(node, make_window_group_operator);
  REQUIRE(groups.push(batch_of({{1, 5, "a", 1, 0, 10}}, true)));
  REQUIRE(groups.advance(9));

  REQUIRE(groups.push(batch_of({{1, 6, "b", 4, 0, 10}, {1, 7, "c", 13, 10, 20}}, true)));
  const auto late = groups.take_side(0);
  REQUIRE(late.size() == 1);
  CHECK(late[0].size() == 1);
  CHECK(late[0].at(2).string_at(late[0].row_at(0)) == "b");
  CHECK(groups.metrics().late_records.value() == 0);

  graph::window_spec window{window_kind::session, 10, 0, 0, 0};
  auto session_node = node_of(graph::session_group_spec{{0}, {count_rows.call}, window, 3},
                              group_output({count_rows}, false));
  session_node.side_types = session_node.input_types;
  operator_harness sessions(session_node, make_session_group_operator);
  REQUIRE(sessions.advance(25));
  REQUIRE(sessions.push(batch_of({{2, 9, "d", 12}, {2, 9, "e", 30}})));
  const auto late_sessions = sessions.take_side(0);
  REQUIRE(late_sessions.size() == 1);
  CHECK(late_sessions[0].at(2).string_at(late_sessions[0].row_at(0)) == "d");
  CHECK(sessions.metrics().late_records.value() == 0);
}

TEST_SUITE_END();

} // namespace headrace::task
