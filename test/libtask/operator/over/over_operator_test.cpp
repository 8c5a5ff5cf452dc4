#include "libtask/operator/over/over_operator.hpp"

#include "test/support/changelog.hpp"
#include "test/support/operator_harness.hpp"
#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libactors/base/text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headrace::task {
namespace {

using graph::logical_type;
using graph::over_spec;
using testing::changes_of;
using testing::operator_harness;
using lines = std::vector<std::string>;

/// k, v (may be NULL), text, time.
struct input_row {
  std::int64_t k = 0;
  std::optional<std::int32_t> v = {};
  std::string text = {};
  std::int64_t time_ms = 0;
};

graph::row_type_ptr input_type() {
  static const auto type = std::make_shared<const logical_type>(
      logical_type::row({{"k", logical_type::bigint(), {}},
                         {"v", logical_type::integer(), {}},
                         {"s", logical_type::string(), {}},
                         {"t", logical_type::timestamp(3), {}},
                         {"two", logical_type::integer().not_null(), {}}}));
  return type;
}

graph::record_batch batch_of(const std::vector<input_row>& rows) {
  graph::batch_builder out(input_type());
  for (const auto& row : rows) {
    out.column(0).append(row.k);
    if (row.v)
      out.column(1).append(*row.v);
    else
      out.column(1).append_null();
    out.column(2).append_string(row.text);
    out.column(3).append(row.time_ms);
    out.column(4).append(std::int32_t{2});
    out.end_row(row.time_ms);
  }
  return out.finish();
}

struct wanted_call {
  graph::group_aggregate_call call;
  logical_type type;
};
const wanted_call count_rows{{"COUNT", {}}, logical_type::bigint().not_null()};
const wanted_call sum_v{{"SUM", {1}}, logical_type::integer()};
const wanted_call min_v{{"MIN", {1}}, logical_type::integer()};
const wanted_call max_s{{"MAX", {2}}, logical_type::string()};
const wanted_call first_v{{"FIRST_VALUE", {1}}, logical_type::integer()};
const wanted_call last_s{{"LAST_VALUE", {2}}, logical_type::string()};
const wanted_call lag_s{{"LAG", {2, 4}}, logical_type::string()};
const wanted_call count_distinct_v{{"COUNT", {1}, -1, true}, logical_type::bigint().not_null()};
const wanted_call sum_distinct_v{{"SUM", {1}, -1, true}, logical_type::integer()};
const wanted_call list_s{{"LISTAGG", {2}}, logical_type::string()};
const wanted_call list_distinct_s{{"LISTAGG", {2}, -1, true}, logical_type::string()};
const wanted_call row_number{{"ROW_NUMBER", {}}, logical_type::bigint().not_null()};
const wanted_call rank{{"RANK", {}}, logical_type::bigint().not_null()};
const wanted_call dense_rank{{"DENSE_RANK", {}}, logical_type::bigint().not_null()};

graph::operator_node node_of(const std::vector<wanted_call>& calls, bool is_rows,
                             std::int64_t preceding, bool of_rows = true) {
  over_spec spec;
  spec.key_columns = {0};
  spec.time_column = of_rows ? 3 : -1;
  spec.is_rows = is_rows;
  spec.preceding = preceding;
  auto fields = input_type()->fields();
  for (const auto& each : calls) {
    spec.calls.push_back(each.call);
    fields.push_back({"c" + std::to_string(fields.size()), each.type, {}});
  }
  graph::operator_node node;
  node.id = {1, 2};
  node.name = "over";
  node.spec = spec;
  node.input_types = {*input_type()};
  node.output_type = logical_type::row(std::move(fields));
  return node;
}

/// What comes behind the row: its results.
lines results_of(const std::vector<graph::record_batch>& batches) {
  lines out;
  for (const auto& each : changes_of(batches)) {
    const auto first = each.find('[');
    const auto key = each.substr(first + 1, each.find(',') - first - 1);
    const auto at = each.find(", 2, ", each.find('T')); // behind the time
    out.push_back(key + ":" + each.substr(at + 5, each.size() - at - 6));
  }
  return out;
}

} // namespace

TEST_SUITE_BEGIN("task/operator/over/over_operator");

TEST_CASE("rows wait for the watermark, and come in the order of their times") {
  operator_harness harness(node_of({count_rows, sum_v}, false, -1), make_over_operator);

  REQUIRE(harness.push(batch_of({{1, 5, "a", 3000}, {2, 1, "b", 1000}, {1, 7, "c", 1000}})));
  CHECK(harness.take().empty());
  REQUIRE(harness.advance(2000));
  auto given = results_of(harness.take());
  std::sort(given.begin(), given.end());
  CHECK(given == lines{"1:1, 7", "2:1, 1"});

  // At or before the watermark a row is late.
  REQUIRE(harness.push(batch_of({{1, 100, "d", 2000}, {1, 2, "e", 2001}})));
  CHECK(harness.metrics().late_records.value() == 1);
  REQUIRE(harness.advance(3000));
  CHECK(results_of(harness.take()) == lines{"1:2, 9", "1:3, 14"});
}

TEST_CASE("RANGE has all rows of the same time, ROWS each up to itself") {
  const std::vector<input_row> rows{{1, 1, "a", 10}, {1, 2, "b", 10}, {1, 4, "c", 20}};
  operator_harness range(node_of({sum_v, row_number, rank, dense_rank}, false, -1),
                         make_over_operator);
  REQUIRE(range.push(batch_of(rows)));
  REQUIRE(range.advance(100));
  CHECK(results_of(range.take()) == lines{"1:3, 1, 1, 1", "1:3, 2, 1, 1", "1:7, 3, 3, 2"});

  operator_harness each(node_of({sum_v, row_number}, true, -1), make_over_operator);
  REQUIRE(each.push(batch_of(rows)));
  REQUIRE(each.advance(100));
  CHECK(results_of(each.take()) == lines{"1:1, 1", "1:3, 2", "1:7, 3"});
}

TEST_CASE("by processing time rows come at once, in their order") {
  operator_harness harness(node_of({sum_v, lag_s}, true, 1, false), make_over_operator);

  REQUIRE(harness.push(batch_of({{1, 1, "a", 9}, {2, 8, "x", 1}, {1, 2, "b", 5}})));
  auto given = results_of(harness.take());
  std::sort(given.begin(), given.end());
  CHECK(given == lines{"1:1, null", "1:3, null", "2:8, null"});
  REQUIRE(harness.push(batch_of({{1, 4, "c", 1}})));
  CHECK(results_of(harness.take()) == lines{"1:6, a"});
}

TEST_CASE("what is carried of a key is forgotten after its time to live") {
  for (const auto* backend : {"hashmap", "rocksdb"}) {
    auto node = node_of({sum_v, row_number, min_v}, true, -1, false);
    std::get<over_spec>(node.spec).state_ttl_ms = 1000;
    operator_harness harness(node, make_over_operator, {}, backend);

    REQUIRE(harness.push(batch_of({{1, 5, "a", 1}, {2, 1, "b", 1}})));
    harness.take();
    harness.clock().advance_ms(999);
    REQUIRE(harness.push(batch_of({{1, 7, "c", 2}})));
    CHECK(results_of(harness.take()) == lines{"1:12, 2, 5"});
    // What was written last lives on.
    harness.clock().advance_ms(999);
    REQUIRE(harness.push(batch_of({{1, 2, "d", 3}, {2, 4, "e", 3}})));
    auto given = results_of(harness.take());
    std::sort(given.begin(), given.end());
    CHECK(given == lines{"1:14, 3, 2", "2:4, 1, 4"});
    harness.restart(2, backend, {0}, state::snapshot_kind::canonical);
    harness.clock().advance_ms(1000);
    REQUIRE(harness.push(batch_of({{1, 3, "f", 4}})));
    CHECK(results_of(harness.take()) == lines{"1:3, 1, 3"});
  }
}

TEST_CASE("random rows have what is computed of all rows of their windows") {
  testing::dice random(testing::seed());
  for (int run = 0; run < testing::runs(30); ++run) {
    const bool is_rows = random.one_in(2);
    const std::int64_t preceding =
        random.one_in(3) ? -1 : static_cast<std::int64_t>(random.below(is_rows ? 4 : 3000));
    const auto* backend = random.one_in(2) ? "hashmap" : "rocksdb";
    operator_harness harness(node_of({count_rows, sum_v, min_v, max_s, first_v, last_s, lag_s,
                                      count_distinct_v, sum_distinct_v, list_s, list_distinct_s},
                                     is_rows, preceding),
                             make_over_operator, {}, backend);
    std::map<std::int64_t, std::vector<input_row>> all; // by key, in the order of time
    std::int64_t watermark = 0;
    for (int round = 0; round < 12; ++round) {
      std::vector<input_row> batch;
      for (auto count = random.below(15) + 1; count > 0; --count) {
        input_row made;
        made.k = static_cast<std::int64_t>(random.below(3));
        if (!random.one_in(4))
          made.v = static_cast<std::int32_t>(random.below(9)) - 4;
        made.text = std::string(random.below(20), static_cast<char>('a' + random.below(4)));
        made.time_ms = watermark + 1 + static_cast<std::int64_t>(random.below(4)) * 700;
        batch.push_back(made);
        auto& of_key = all[made.k];
        of_key.insert(std::upper_bound(of_key.begin(), of_key.end(), made,
                                       [](const input_row& left, const input_row& right) {
                                         return left.time_ms < right.time_ms;
                                       }),
                      made);
      }
      REQUIRE(harness.push(batch_of(batch)));
      const auto before = watermark;
      watermark += static_cast<std::int64_t>(random.below(3000));
      REQUIRE(harness.advance(watermark));

      lines expected;
      for (const auto& [k, rows] : all)
        for (std::size_t i = 0; i < rows.size(); ++i) {
          if (rows[i].time_ms <= before || rows[i].time_ms > watermark)
            continue;
          std::int64_t count = 0;
          std::int32_t sum = 0;
          std::optional<std::int32_t> least;
          std::optional<std::int32_t> first;
          bool has_sum = false;
          std::string most;
          std::string last;
          std::set<std::int32_t> values;
          lines texts;
          lines different;
          for (std::size_t j = 0; j < rows.size(); ++j) {
            const bool is_in =
                is_rows ? j <= i && (preceding < 0 || static_cast<std::int64_t>(i - j) <= preceding)
                        : rows[j].time_ms <= rows[i].time_ms &&
                              (preceding < 0 || rows[j].time_ms >= rows[i].time_ms - preceding);
            if (!is_in)
              continue;
            most = count == 0 ? rows[j].text : std::max(most, rows[j].text);
            last = rows[j].text;
            texts.push_back(last);
            if (std::find(different.begin(), different.end(), last) == different.end())
              different.push_back(last);
            ++count;
            if (!rows[j].v)
              continue;
            sum += *rows[j].v;
            values.insert(*rows[j].v);
            has_sum = true;
            least = least ? std::min(*least, *rows[j].v) : *rows[j].v;
            first = first ? first : rows[j].v;
          }
          const auto shown = [](bool is_there, std::int32_t value) {
            return is_there ? std::to_string(value) : std::string("null");
          };
          expected.push_back(std::to_string(k) + ":" + std::to_string(count) + ", " +
                             shown(has_sum, sum) + ", " + shown(has_sum, least.value_or(0)) + ", " +
                             most + ", " + shown(has_sum, first.value_or(0)) + ", " + last + ", " +
                             (i >= 2 ? rows[i - 2].text : "null") + ", " +
                             std::to_string(values.size()) + ", " +
                             shown(has_sum, std::accumulate(values.begin(), values.end(), 0)) +
                             ", " + join_text(texts, ",") + ", " + join_text(different, ","));
        }
      auto given = results_of(harness.take());
      std::sort(given.begin(), given.end());
      std::sort(expected.begin(), expected.end());
      REQUIRE(given == expected);
      if (random.one_in(5))
        harness.restart(1 + static_cast<std::int32_t>(random.below(3)),
                        random.one_in(2) ? "hashmap" : "rocksdb", {0},
                        state::snapshot_kind::canonical);
    }
  }
}

TEST_SUITE_END();

} // namespace headrace::task
