#include "libtask/operator/join/timed_join_operator.hpp"

#include "test/support/chain_harness.hpp"
#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/row_format.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headrace::task {
namespace {

using graph::join_kind;
using graph::logical_type;
using testing::chain_harness;

struct timed_row {
  std::optional<std::int32_t> k = {};
  std::int64_t v = 0;
  std::optional<std::int64_t> time_ms = 0;
};

graph::row_type_ptr timed_type() {
  static const auto type = std::make_shared<const logical_type>(
      logical_type::row({{"k", logical_type::integer(), {}},
                         {"v", logical_type::bigint(), {}},
                         {"t", logical_type::timestamp(3), {}}})
          .not_null());
  return type;
}

graph::record_batch batch_of(const std::vector<timed_row>& rows) {
  graph::batch_builder out(timed_type());
  for (const auto& row : rows) {
    if (row.k)
      out.column(0).append(*row.k);
    else
      out.column(0).append_null();
    out.column(1).append(row.v);
    if (row.time_ms)
      out.column(2).append(*row.time_ms);
    else
      out.column(2).append_null();
    out.end_row();
  }
  return out.finish();
}

bool is_left_alone(join_kind kind) { return kind == join_kind::semi || kind == join_kind::anti; }

/// right.t between left.t + least and left.t + most, and perhaps left.v < right.v.
graph::expression condition_of(const graph::timed_join_spec& spec, bool compares) {
  const auto time = logical_type::timestamp(3);
  const auto truth = logical_type::boolean();
  const auto shifted = [&](std::int64_t by_ms) {
    const auto interval = logical_type::interval_day_time().not_null();
    return graph::make_call(
        "+", time,
        {graph::make_column(2, time), graph::make_constant(graph::fixed_value(interval, by_ms))});
  };
  std::vector<graph::expression> parts;
  if (!spec.is_by_window) {
    parts.push_back(
        graph::make_call(">=", truth, {graph::make_column(5, time), shifted(spec.least_ms)}));
    parts.push_back(
        graph::make_call("<=", truth, {graph::make_column(5, time), shifted(spec.most_ms)}));
  }
  const auto number = logical_type::bigint();
  if (compares)
    parts.push_back(graph::make_call(
        "<", truth, {graph::make_column(1, number), graph::make_column(4, number)}));
  if (parts.empty())
    return {};
  return parts.size() == 1 ? parts[0] : graph::make_call("AND", truth, std::move(parts));
}

graph::timed_join_spec spec_of(join_kind kind, bool is_by_window, std::int64_t least_ms = 0,
                               std::int64_t most_ms = 0, bool compares = false) {
  graph::timed_join_spec spec;
  spec.is_by_window = is_by_window;
  spec.left_time = 2;
  spec.right_time = 2;
  spec.least_ms = least_ms;
  spec.most_ms = most_ms;
  spec.join.kind = kind;
  spec.join.left.key_columns = {0};
  spec.join.right.key_columns = {0};
  spec.join.null_safe = {0};
  spec.join.condition = condition_of(spec, compares);
  return spec;
}

graph::job_vertex vertex_of(const graph::timed_join_spec& spec) {
  auto fields = timed_type()->fields();
  if (!is_left_alone(spec.join.kind))
    fields.insert(fields.end(), timed_type()->fields().begin(), timed_type()->fields().end());
  auto vertex = testing::vertex_of(spec, *timed_type(), logical_type::row(fields).not_null());
  vertex.operators[0].input_types.push_back(*timed_type());
  vertex.inputs = {{{5, 6}, 0}, {{5, 7}, 1}};
  return vertex;
}

using lines = std::vector<std::string>;

lines rows_of(const std::vector<graph::record_batch>& batches) {
  lines out;
  for (const auto& batch : batches) {
    testing::check_valid(batch);
    CHECK(batch.kinds() == nullptr);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      std::string text;
      for (std::size_t k = 0; k < batch.column_count(); ++k) {
        text += k > 0 ? ", " : "";
        if (batch.at(k).is_null(batch.row_at(i)))
          text += "-";
        else if (k % 3 == 0)
          text += std::to_string(batch.at(k).values<std::int32_t>()[batch.row_at(i)]);
        else
          text += std::to_string(batch.at(k).values<std::int64_t>()[batch.row_at(i)]);
      }
      out.push_back(text);
    }
  }
  return out;
}

} // namespace

TEST_SUITE_BEGIN("task/operator/join/timed_join_operator");

TEST_CASE("a window is joined when the watermark passes its end, and late rows are dropped") {
  chain_harness harness(vertex_of(spec_of(join_kind::left, true)));
  harness.open();
  harness.push(0, batch_of({{1, 1, 10}, {2, 2, 10}, {1, 3, 20}, {{}, 9, 10}}));
  harness.push(1, batch_of({{1, 5, 10}, {1, 6, 20}, {{}, 9, 10}}));
  harness.watermark(8);
  CHECK(harness.take_batches().empty());

  harness.watermark(9);
  auto fired = harness.take_batches();
  REQUIRE(!fired.empty());
  CHECK(fired[0].timestamps()[0] == 9);
  auto got = rows_of(fired);
  std::sort(got.begin(), got.end());
  CHECK(got == lines{"-, 9, 10, -, -, -", "1, 1, 10, 1, 5, 10", "2, 2, 10, -, -, -"});

  harness.push(0, batch_of({{1, 4, 10}, {1, 4, {}}}));
  CHECK(harness.metrics.late_records.value() == 2);
  harness.watermark(graph::watermark::end);
  CHECK(rows_of(harness.take_batches()) == lines{"1, 3, 20, 1, 6, 20"});
}

TEST_CASE("rows are joined by the distance of their times, and those without a pair leave late") {
  chain_harness harness(vertex_of(spec_of(join_kind::full, false, -1000, 2000)));
  harness.open();
  harness.push(0, batch_of({{1, 1, 5000}, {2, 2, 5000}}));
  CHECK(harness.take_batches().empty());
  harness.push(1, batch_of({{1, 7, 4000}, {1, 8, 7000}, {1, 9, 7001}, {1, 9, 3999}}));
  CHECK(rows_of(harness.take_batches()) ==
        lines{"1, 1, 5000, 1, 7, 4000", "1, 1, 5000, 1, 8, 7000"});

  harness.watermark(4500);
  CHECK(harness.take_batches().empty());
  harness.watermark(20'000);
  auto got = rows_of(harness.take_batches());
  std::sort(got.begin(), got.end());
  CHECK(got == lines{"-, -, -, 1, 9, 3999", "-, -, -, 1, 9, 7001", "2, 2, 5000, -, -, -"});

  // What comes too late to be kept leaves at once.
  harness.push(0, batch_of({{1, 3, 1000}, {1, 3, {}}}));
  CHECK(rows_of(harness.take_batches()) == lines{"1, 3, 1000, -, -, -", "1, 3, -, -, -, -"});
  harness.watermark(graph::watermark::end);
  CHECK(harness.take_batches().empty());
}

TEST_CASE("a window with many rows of a key is joined in pieces") {
  chain_harness harness(vertex_of(spec_of(join_kind::full, true, 0, 0, true)));
  harness.open();
  std::vector<timed_row> many;
  for (std::int64_t i = 0; i < 60; ++i)
    many.push_back({1, i, 10});
  harness.push(0, batch_of(many));
  harness.push(1, batch_of(many));
  harness.watermark(graph::watermark::end);

  std::size_t rows = 0;
  for (const auto& batch : harness.take_batches()) {
    CHECK(batch.size() <= 6);
    rows += batch.size();
  }
  CHECK(rows == 60 * 59 / 2 + 2); // the last left row and the first right one are alone
}

namespace {

std::string text_of(const timed_row& row) {
  return (row.k ? std::to_string(*row.k) : "-") + ", " + std::to_string(row.v) + ", " +
         std::to_string(*row.time_ms);
}

std::map<std::string, int> expected_of(const graph::timed_join_spec& spec, bool compares,
                                       const std::vector<timed_row>& left,
                                       const std::vector<timed_row>& right) {
  const auto kind = spec.join.kind;
  std::map<std::string, int> out;
  std::vector<bool> is_matched(right.size(), false);
  for (const auto& one : left) {
    bool has_match = false;
    for (std::size_t i = 0; i < right.size(); ++i) {
      const auto& other = right[i];
      const auto distance = *other.time_ms - *one.time_ms;
      const bool is_near =
          spec.is_by_window ? distance == 0 : spec.least_ms <= distance && distance <= spec.most_ms;
      if (!one.k || !other.k || *one.k != *other.k || !is_near || (compares && one.v >= other.v))
        continue;
      has_match = true;
      is_matched[i] = true;
      if (!is_left_alone(kind))
        ++out[text_of(one) + ", " + text_of(other)];
    }
    if (is_left_alone(kind) && has_match == (kind == join_kind::semi))
      ++out[text_of(one)];
    if (!has_match && (kind == join_kind::left || kind == join_kind::full))
      ++out[text_of(one) + ", -, -, -"];
  }
  for (std::size_t i = 0; i < right.size(); ++i)
    if (!is_matched[i] && (kind == join_kind::right || kind == join_kind::full))
      ++out["-, -, -, " + text_of(right[i])];
  return out;
}

} // namespace

TEST_CASE("random rows in disorder are joined as if all were there") {
  testing::dice random(testing::seed());
  for (int run = 0; run < testing::runs(60); ++run) {
    const bool is_by_window = random.one_in(2);
    const bool compares = random.one_in(2);
    const auto kind = static_cast<join_kind>(random.below(is_by_window ? 6 : 4));
    const auto least = static_cast<std::int64_t>(random.below(9)) * 500 - 2000;
    const auto most = least + static_cast<std::int64_t>(random.below(6)) * 700;
    const auto spec = spec_of(kind, is_by_window, least, most, compares);
    chain_harness::options how;
    how.backend = random.one_in(4) ? "rocksdb" : "hashmap";
    CAPTURE(static_cast<int>(kind));
    CAPTURE(is_by_window);
    CAPTURE(least);
    CAPTURE(most);
    CAPTURE(how.backend);
    auto harness = std::make_unique<chain_harness>(vertex_of(spec), graph::function_table(), how);
    harness->open();
    std::vector<timed_row> all[2];
    std::map<std::string, int> got;
    const auto take = [&] {
      for (const auto& line : rows_of(harness->take_batches()))
        ++got[line];
    };
    for (std::int64_t round = 0; round < 10; ++round) {
      const auto now_ms = round * 1000;
      for (std::int32_t side = 0; side < 2; ++side) {
        std::vector<timed_row> rows;
        for (auto count = random.below(6); count > 0; --count) {
          timed_row made;
          if (!random.one_in(6))
            made.k = static_cast<std::int32_t>(random.below(3));
          made.v = static_cast<std::int64_t>(random.below(4));
          made.time_ms = now_ms + static_cast<std::int64_t>(random.below(4)) * 500 + 1;
          rows.push_back(made);
          all[side].push_back(made);
        }
        if (!rows.empty())
          harness->push(side, batch_of(rows));
      }
      take();
      if (random.one_in(2)) {
        // A window's end is not the watermark's.
        harness->watermark(now_ms - 1);
        take();
      }
      if (random.one_in(4)) {
        const auto stored = harness->snapshot(round + 1);
        harness = std::make_unique<chain_harness>(vertex_of(spec), graph::function_table(), how);
        harness->open(stored);
      }
    }
    harness->watermark(graph::watermark::end);
    take();
    CHECK(got == expected_of(spec, compares, all[0], all[1]));
  }
}

TEST_CASE("what cannot be joined by time is refused by the graph's check") {
  const auto checked = [](auto change, bool is_by_window = false) {
    auto vertex = vertex_of(spec_of(join_kind::left, is_by_window, -5, 5));
    change(std::get<graph::timed_join_spec>(vertex.operators[0].spec));
    return graph::validate(vertex);
  };
  REQUIRE(checked([](auto&) {}));
  CHECK(checked([](auto& spec) { spec.left_time = 1; }).error().code == errc::type_mismatch);
  CHECK(checked([](auto& spec) { spec.right_time = 9; }).error().code == errc::invalid_graph);
  CHECK(checked([](auto& spec) { spec.least_ms = 6; }).error().code == errc::invalid_graph);
  CHECK(checked([](auto& spec) { spec.join.left.retracts = true; }).error().code ==
        errc::invalid_graph);
}

TEST_SUITE_END();

} // namespace headrace::task
