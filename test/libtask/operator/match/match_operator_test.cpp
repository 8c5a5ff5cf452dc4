#include "libtask/operator/match/match_operator.hpp"

#include "test/support/changelog.hpp"
#include "test/support/operator_harness.hpp"
#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"
#include "libgraph/data/batch_builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace headrace::task {
namespace {

using graph::logical_type;
using graph::match_spec;
using graph::pattern_value;
using testing::changes_of;
using testing::operator_harness;
using lines = std::vector<std::string>;

/// k, letters (of variables that can take the row), v (may be NULL), time.
struct input_row {
  std::int64_t k = 0;
  std::string letters = {};
  std::optional<std::int32_t> v = {};
  std::int64_t time_ms = 0;
};

graph::row_type_ptr input_type() {
  static const auto type = std::make_shared<const logical_type>(
      logical_type::row({{"k", logical_type::bigint(), {}},
                         {"s", logical_type::string(), {}},
                         {"v", logical_type::integer(), {}},
                         {"t", logical_type::timestamp(3), {}}}));
  return type;
}

graph::record_batch batch_of(const std::vector<input_row>& rows) {
  graph::batch_builder out(input_type());
  for (const auto& row : rows) {
    out.column(0).append(row.k);
    out.column(1).append_string(row.letters);
    if (row.v)
      out.column(2).append(*row.v);
    else
      out.column(2).append_null();
    out.column(3).append(row.time_ms);
    out.end_row(row.time_ms);
  }
  return out.finish();
}

constexpr std::uint32_t width = 4;

graph::expression text_of(std::string_view text) {
  return graph::make_constant(graph::text_value(logical_type::string().not_null(), text));
}
/// The row has the letter.
graph::expression has(const char* letter) {
  return graph::make_call(
      "LIKE", logical_type::boolean(),
      {graph::make_column(1, logical_type::string()), text_of("%" + std::string(letter) + "%")});
}
graph::expression call_of(const char* function, graph::expression left, graph::expression right) {
  return graph::make_call(function, logical_type::boolean(), {std::move(left), std::move(right)});
}

/// A match of rows that are told by letters, with its key, first and last value of v, the number of
/// rows, and the sum of B's values.
match_spec letters_spec(std::vector<graph::pattern_variable> variables) {
  match_spec spec;
  spec.key_columns = {0};
  spec.time_column = 3;
  spec.variables = std::move(variables);
  const auto integer = logical_type::integer();
  const auto count = logical_type::bigint().not_null();
  using kind = pattern_value::kind;
  spec.values = {{kind::last, -1, 0, 0, {}, {}, logical_type::bigint()},
                 {kind::first, -1, 0, 2, {}, {}, integer},
                 {kind::last, -1, 0, 2, {}, {}, integer},
                 {kind::aggregate, -1, 0, -1, "COUNT", {}, count},
                 {kind::aggregate, 1, 0, -1, "SUM", {graph::make_column(2, integer)}, integer}};
  for (std::uint32_t i = 0; i < spec.values.size(); ++i)
    spec.measures.push_back(graph::make_column(width + i, spec.values[i].type));
  return spec;
}

graph::operator_node node_of(const match_spec& spec) {
  graph::operator_node node;
  node.id = {1, 2};
  node.name = "match";
  node.spec = spec;
  node.input_types = {*input_type()};
  std::vector<logical_type::field> fields;
  for (const auto& each : spec.measures)
    fields.push_back({"c" + std::to_string(fields.size()), each.type(), {}});
  node.output_type = logical_type::row(std::move(fields)).not_null();
  return node;
}

graph::pattern_variable once(const char* name) { return {name, 1, 1, false, has(name)}; }
graph::pattern_variable many(const char* name, bool is_greedy = true) {
  return {name, 1, -1, is_greedy, has(name)};
}

} // namespace

TEST_SUITE_BEGIN("task/operator/match/match_operator");

TEST_CASE("rows wait for the watermark, and match in the order of their times") {
  operator_harness harness(node_of(letters_spec({once("A"), many("B"), once("C")})),
                           make_match_operator);

  REQUIRE(harness.push(batch_of({{1, "C", 9, 4000},
                                 {1, "B", 2, 2000},
                                 {2, "A", 5, 1500},
                                 {1, "A", 1, 1000},
                                 {1, "B", {}, 3000}})));
  CHECK(harness.take().empty());
  REQUIRE(harness.advance(3500));
  CHECK(harness.take().empty());
  REQUIRE(harness.push(batch_of({{2, "B", 7, 3600}, {2, "C", 8, 3700}})));
  REQUIRE(harness.advance(4000));
  auto given = changes_of(harness.take());
  std::sort(given.begin(), given.end());
  CHECK(given == lines{"+I[1, 1, 9, 4, 2]", "+I[2, 5, 8, 3, 7]"});
}

TEST_CASE("a row at or before the watermark is late, and counted") {
  operator_harness harness(node_of(letters_spec({once("A"), once("B")})), make_match_operator);
  REQUIRE(harness.advance(2000));
  REQUIRE(harness.push(batch_of({{1, "A", 1, 2000}, {1, "A", 2, 2001}, {1, "B", 3, 2002}})));
  CHECK(harness.metrics().late_records.value() == 1);
  REQUIRE(harness.advance(3000));
  CHECK(changes_of(harness.take()) == lines{"+I[1, 2, 3, 2, 3]"});
}

TEST_CASE("matches leave with the time of their last row") {
  operator_harness harness(node_of(letters_spec({once("A"), once("B")})), make_match_operator);
  REQUIRE(harness.push(batch_of({{1, "A", 1, 1000}, {1, "B", 3, 2002}, {1, "", 3, 2003}})));
  REQUIRE(harness.advance(5000));
  const auto given = harness.take();
  REQUIRE(given.size() == 1);
  REQUIRE(given[0].timestamps() != nullptr);
  CHECK(given[0].timestamps()[0] == 2002);
}

TEST_CASE("rows of one time are ordered by further columns") {
  auto spec = letters_spec({once("A"), once("B")});
  spec.order = {{2, true, true}};
  operator_harness harness(node_of(spec), make_match_operator);
  REQUIRE(harness.push(
      batch_of({{1, "AB", 1, 1000}, {1, "AB", {}, 1000}, {1, "AB", 5, 1000}, {1, "AB", 3, 1000}})));
  REQUIRE(harness.advance(1000));
  CHECK(changes_of(harness.take()) ==
        lines{"+I[1, null, 5, 2, 5]", "+I[1, 5, 3, 2, 3]", "+I[1, 3, 1, 2, 1]"});
}

TEST_CASE("conditions see the rows before, also of other keys' batches") {
  // A B+ with rising values, then C below the first.
  auto spec = letters_spec({once("A"), {"B", 1, -1, true, {}}, once("C")});
  const auto integer = logical_type::integer();
  using kind = pattern_value::kind;
  const auto first = static_cast<std::uint32_t>(width + spec.values.size());
  spec.values.push_back({kind::last, -1, 1, 2, {}, {}, integer});
  spec.values.push_back({kind::first, 0, 0, 2, {}, {}, integer});
  const auto v = graph::make_column(2, integer);
  spec.variables[1].condition = call_of(">", v, graph::make_column(first, integer));
  spec.variables[2].condition = call_of("<", v, graph::make_column(first + 1, integer));
  operator_harness harness(node_of(spec), make_match_operator);

  REQUIRE(harness.push(batch_of({{1, "A", 5, 1000},
                                 {2, "A", 1, 1000},
                                 {1, "", 6, 1100},
                                 {2, "", 3, 1100},
                                 {1, "", 9, 1200},
                                 {2, "", 2, 1200},
                                 {1, "", 4, 1300},
                                 {2, "", 0, 1300}})));
  REQUIRE(harness.advance(2000));
  CHECK(changes_of(harness.take()) == lines{"+I[1, 5, 4, 4, 15]"});
}

TEST_CASE("a condition that fails does so for a row that is asked for alone") {
  // B: 10 / v > 1
  auto spec = letters_spec({once("A"), once("B")});
  const auto integer = logical_type::integer();
  const auto number = [&](std::int32_t value) {
    return graph::make_constant(graph::fixed_value(integer.not_null(), value));
  };
  spec.variables[1].condition = call_of(
      ">", graph::make_call("/", integer, {number(10), graph::make_column(2, integer)}), number(1));
  operator_harness harness(node_of(spec), make_match_operator);

  REQUIRE(harness.push(batch_of({{1, "", 0, 1000}, {1, "A", 0, 1001}, {1, "", 2, 1002}})));
  REQUIRE(harness.advance(2000));
  CHECK(changes_of(harness.take()) == lines{"+I[1, 0, 2, 2, 2]"});

  REQUIRE(harness.push(batch_of({{1, "A", 0, 3000}, {1, "", 0, 3001}})));
  const auto failed = harness.advance(4000);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message.find("division by zero") != std::string::npos);
}

TEST_CASE("what has begun is dropped when it is too long, with and without rows") {
  auto spec = letters_spec({once("A"), many("B"), once("C")});
  spec.within_ms = 3000;
  for (const auto* backend : {"hashmap", "rocksdb"}) {
    CAPTURE(backend);
    operator_harness harness(node_of(spec), make_match_operator, {}, backend);
    REQUIRE(harness.push(batch_of({{1, "A", 1, 1000}, {1, "B", 2, 2000}, {2, "A", 3, 1500}})));
    REQUIRE(harness.advance(2500));
    CHECK(harness.state_rows() > 0);
    REQUIRE(harness.advance(3999));
    REQUIRE(harness.push(batch_of({{1, "C", 9, 4000}, {2, "B", 4, 4400}})));
    REQUIRE(harness.advance(4450)); // the C came too late
    CHECK(harness.take().empty());
    REQUIRE(harness.push(batch_of({{2, "C", 5, 4460}})));
    REQUIRE(harness.advance(4470));
    CHECK(changes_of(harness.take()) == lines{"+I[2, 3, 5, 3, 4]"});
    REQUIRE(harness.advance(10'000));
    CHECK(harness.state_rows() == 0);
  }
}

TEST_CASE("a key whose rows begin nothing keeps no state") {
  operator_harness harness(node_of(letters_spec({once("A"), once("B")})), make_match_operator);
  REQUIRE(harness.push(batch_of({{1, "B", 1, 1000}, {2, "", 1, 1001}, {3, "AB", 1, 1002}})));
  REQUIRE(harness.advance(5000));
  CHECK(harness.state_rows() == 1);
  REQUIRE(harness.push(batch_of({{3, "B", 1, 6000}})));
  REQUIRE(harness.advance(7000));
  CHECK(changes_of(harness.take()).size() == 1);
  CHECK(harness.state_rows() == 0);
}

TEST_CASE("by processing time rows match as they come") {
  auto spec = letters_spec({once("A"), many("B"), once("C")});
  spec.time_column = -1;
  spec.within_ms = 5000;
  operator_harness harness(node_of(spec), make_match_operator);

  REQUIRE(harness.push(batch_of({{1, "A", 1, 9}, {2, "A", 4, 1}, {1, "B", 2, 5}})));
  CHECK(harness.take().empty());
  REQUIRE(harness.push(batch_of({{1, "C", 3, 1}})));
  CHECK(changes_of(harness.take()) == lines{"+I[1, 1, 3, 3, 2]"});
  CHECK(harness.state_rows() > 0);
  harness.clock().advance_ms(4000);
  REQUIRE(harness.tick());
  CHECK(harness.state_rows() > 0);
  harness.clock().advance_ms(2100);
  REQUIRE(harness.tick());
  CHECK(harness.state_rows() == 0);
}

TEST_CASE("random rows give the same matches, stored anywhere and in any number of subtasks") {
  testing::dice random(testing::seed());
  for (int run = 0; run < testing::runs(20); ++run) {
    auto spec = random.one_in(2) ? letters_spec({once("A"), many("B"), once("C")})
                                 : letters_spec({many("A"), many("B", false), once("C")});
    if (random.one_in(2))
      spec.skip = graph::match_skip::past_last_row;
    if (random.one_in(2))
      spec.within_ms = 2500;
    std::vector<std::vector<input_row>> batches;
    std::vector<std::int64_t> watermarks;
    std::int64_t watermark = 0;
    for (int round = 0; round < 12; ++round) {
      auto& batch = batches.emplace_back();
      for (auto count = random.below(15) + 1; count > 0; --count) {
        input_row made;
        made.k = static_cast<std::int64_t>(random.below(4));
        for (const auto* letter : {"A", "B", "C"})
          if (random.one_in(2))
            made.letters += letter;
        if (!random.one_in(4))
          made.v = static_cast<std::int32_t>(random.below(100));
        made.time_ms = watermark + 1 + static_cast<std::int64_t>(random.below(3000));
        batch.push_back(made);
      }
      watermark += static_cast<std::int64_t>(random.below(3000));
      watermarks.push_back(watermark);
    }
    // All at once is what the others are measured by.
    operator_harness whole(node_of(spec), make_match_operator);
    for (const auto& each : batches)
      REQUIRE(whole.push(batch_of(each)));
    REQUIRE(whole.advance(1'000'000));
    auto expected = changes_of(whole.take());
    std::sort(expected.begin(), expected.end());

    operator_harness pieces(node_of(spec), make_match_operator, {},
                            random.one_in(2) ? "hashmap" : "rocksdb");
    lines given;
    for (std::size_t i = 0; i < batches.size(); ++i) {
      REQUIRE(pieces.push(batch_of(batches[i])));
      REQUIRE(pieces.advance(watermarks[i]));
      for (auto& each : changes_of(pieces.take()))
        given.push_back(std::move(each));
      if (random.one_in(4))
        pieces.restart(1 + static_cast<std::int32_t>(random.below(3)),
                       random.one_in(2) ? "hashmap" : "rocksdb", {0},
                       state::snapshot_kind::canonical);
    }
    REQUIRE(pieces.advance(1'000'000));
    for (auto& each : changes_of(pieces.take()))
      given.push_back(std::move(each));
    std::sort(given.begin(), given.end());
    REQUIRE(given == expected);
    if (spec.within_ms > 0)
      CHECK(pieces.state_rows() == 0);
  }
}

TEST_SUITE_END();

} // namespace headrace::task
