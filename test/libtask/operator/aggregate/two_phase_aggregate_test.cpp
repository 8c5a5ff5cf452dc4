#include "test/support/changelog.hpp"
#include "test/support/operator_harness.hpp"
#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"
#include "libtask/operator/aggregate/group_aggregate_operator.hpp"
#include "libgraph/data/batch_builder.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

// The two phases of an aggregate against the same in one.
namespace headrace::task {
namespace {

using graph::aggregate_phase;
using graph::group_aggregate_spec;
using graph::logical_type;
using graph::row_kind;
using testing::operator_harness;
using lines = std::vector<std::string>;

/// k (may be NULL), v (may be NULL), d, f.
graph::row_type_ptr input_type() {
  static const auto type = std::make_shared<const logical_type>(
      logical_type::row({{"k", logical_type::string(), {}},
                         {"v", logical_type::integer(), {}},
                         {"d", logical_type::decimal(10, 2), {}},
                         {"f", logical_type::boolean(), {}}}));
  return type;
}

struct input_row {
  std::optional<std::string> k;
  std::optional<std::int32_t> v;
  std::int64_t cents = 0;
  bool flag = true;
  row_kind kind = row_kind::insert;
};

graph::record_batch batch_of(const std::vector<input_row>& rows) {
  graph::batch_builder out(input_type());
  for (const auto& row : rows) {
    if (row.k)
      out.column(0).append_string(*row.k);
    else
      out.column(0).append_null();
    if (row.v)
      out.column(1).append(*row.v);
    else
      out.column(1).append_null();
    out.column(2).append(graph::int128{row.cents});
    out.column(3).append(static_cast<std::uint8_t>(row.flag));
    out.end_row(row.kind);
  }
  return out.finish();
}

group_aggregate_spec spec_of(bool retracts) {
  group_aggregate_spec spec;
  spec.key_columns = {0};
  spec.input_retracts = retracts;
  spec.calls = {{"COUNT", {}}, {"SUM", {1}}, {"AVG", {2}}, {"SUM", {1}, 3}, {"VAR_POP", {1}}};
  if (!retracts)
    spec.calls.insert(spec.calls.end(), {{"MIN", {1}}, {"MAX", {2}}, {"LAST_VALUE", {1}}});
  return spec;
}

logical_type results_of(const group_aggregate_spec& spec) {
  const auto whole = logical_type::integer();
  std::vector<logical_type::field> fields{{"k", logical_type::string(), {}}};
  for (const auto& type : {logical_type::bigint().not_null(), whole, logical_type::decimal(38, 6),
                           whole, whole, whole, logical_type::decimal(10, 2), whole})
    if (fields.size() <= spec.calls.size())
      fields.push_back({"c" + std::to_string(fields.size()), type, {}});
  return logical_type::row(std::move(fields));
}

graph::operator_node node_of(const group_aggregate_spec& from, aggregate_phase phase) {
  const auto sums = logical_type::row(
      {{"k", logical_type::string(), {}}, {"$sums", logical_type::bytes().not_null(), {}}});
  graph::operator_node node;
  node.id = {1, 2};
  node.name = "group";
  auto spec = from;
  spec.phase = phase;
  node.input_types = {phase == aggregate_phase::global ? sums : *input_type()};
  node.output_type = phase == aggregate_phase::local ? sums : results_of(from);
  if (phase == aggregate_phase::local) {
    spec.other_end = results_of(from);
    spec.state_ttl_ms = 0;
  } else if (phase == aggregate_phase::global) {
    spec.other_end = *input_type();
  }
  node.spec = spec;
  return node;
}

} // namespace

TEST_SUITE_BEGIN("task/operator/aggregate/two_phase_aggregate");

TEST_CASE("the local phase gives a key once a batch, and nothing of what comes to nothing") {
  const auto spec = spec_of(true);
  operator_harness local(node_of(spec, aggregate_phase::local), make_group_aggregate_operator);
  operator_harness global(node_of(spec, aggregate_phase::global), make_group_aggregate_operator);

  REQUIRE(local.push(batch_of({{"a", 1, 100}, {"b", 2, 200}, {"a", 3, 300}})));
  const auto sums = local.take();
  REQUIRE(sums.size() == 1);
  CHECK(sums[0].size() == 2);
  REQUIRE(global.push(sums[0]));
  CHECK(testing::changes_of(global.take()) ==
        lines{"+I[a, 2, 4, 2.000000, 4, 1]", "+I[b, 1, 2, 2.000000, 2, 0]"});

  REQUIRE(local.push(batch_of({{"a", 1, 100, true, row_kind::delete_},
                               {"c", 9, 9},
                               {"c", 9, 9, true, row_kind::delete_},
                               {"b", 2, 200, true, row_kind::update_before},
                               {"b", 2, 500, true, row_kind::update_after}})));
  for (const auto& each : local.take())
    REQUIRE(global.push(each));
  CHECK(testing::changes_of(global.take()) ==
        lines{"-U[a, 2, 4, 2.000000, 4, 1]", "+U[a, 1, 3, 3.000000, 3, 0]",
              "-U[b, 1, 2, 2.000000, 2, 0]", "+U[b, 1, 2, 5.000000, 2, 0]"});

  REQUIRE(local.push(batch_of({{"a", 3, 300, true, row_kind::delete_}})));
  for (const auto& each : local.take())
    REQUIRE(global.push(each));
  CHECK(testing::changes_of(global.take()) == lines{"-D[a, 1, 3, 3.000000, 3, 0]"});
}

TEST_CASE("what is taken back of a group that expired is dropped") {
  auto spec = spec_of(true);
  spec.state_ttl_ms = 1000;
  operator_harness local(node_of(spec, aggregate_phase::local), make_group_aggregate_operator);
  operator_harness global(node_of(spec, aggregate_phase::global), make_group_aggregate_operator);
  const auto push = [&](const std::vector<input_row>& rows) {
    REQUIRE(local.push(batch_of(rows)));
    for (const auto& each : local.take())
      REQUIRE(global.push(each));
    return testing::changes_of(global.take());
  };
  CHECK(push({{"a", 1, 100}}) == lines{"+I[a, 1, 1, 1.000000, 1, 0]"});

  global.clock().advance_ms(1000);

  CHECK(push({{"a", 1, 100, true, row_kind::delete_}}).empty());
  CHECK(push({{"a", 2, 100}}) == lines{"+I[a, 1, 2, 1.000000, 2, 0]"});
}

TEST_CASE("random changes in two phases come to the same as in one") {
  testing::dice random(testing::seed());
  for (int run = 0; run < testing::runs(30); ++run) {
    const bool retracts = random.one_in(2);
    auto spec = spec_of(retracts);
    const auto one_phase = spec;
    if (random.one_in(2))
      spec.mini_batch = {static_cast<std::int64_t>(1 + random.below(20)), 100};
    operator_harness single(node_of(one_phase, aggregate_phase::single),
                            make_group_aggregate_operator);
    std::deque<operator_harness> locals;
    for (int i = 0; i < 2; ++i)
      locals.emplace_back(node_of(spec, aggregate_phase::local), make_group_aggregate_operator);
    operator_harness global(node_of(spec, aggregate_phase::global), make_group_aggregate_operator);
    testing::materialized_rows expected;
    testing::materialized_rows found;
    std::vector<std::vector<input_row>> live(2);
    for (int round = 0; round < 20; ++round) {
      for (std::size_t i = 0; i < 2; ++i) {
        std::vector<input_row> rows;
        for (auto count = 1 + random.below(12); count > 0; --count) {
          if (retracts && !live[i].empty() && random.one_in(2)) {
            const auto at = static_cast<std::ptrdiff_t>(random.below(live[i].size()));
            rows.push_back(live[i][static_cast<std::size_t>(at)]);
            rows.back().kind = row_kind::delete_;
            live[i].erase(live[i].begin() + at);
            continue;
          }
          input_row made;
          if (!random.one_in(5))
            made.k =
                std::string(1 + random.below(2) * 20, static_cast<char>('a' + random.below(3)));
          if (!random.one_in(4))
            made.v = static_cast<std::int32_t>(random.below(9)) - 4;
          made.cents = static_cast<std::int64_t>(random.below(1000)) - 500;
          made.flag = random.one_in(2);
          live[i].push_back(made);
          rows.push_back(made);
        }
        REQUIRE(single.push(batch_of(rows)));
        REQUIRE(locals[i].push(batch_of(rows)));
        // LAST_VALUE is of the last of both: their sums must not change places.
        if (!retracts)
          REQUIRE(locals[i].barrier());
        for (const auto& each : locals[i].take())
          REQUIRE(global.push(each));
      }
      for (auto& each : locals) {
        REQUIRE(each.barrier());
        for (const auto& sums : each.take())
          REQUIRE(global.push(sums));
      }
      if (random.one_in(3))
        global.restart(1 + static_cast<std::int32_t>(random.below(3)),
                       random.one_in(2) ? "hashmap" : "rocksdb", {0},
                       state::snapshot_kind::canonical);
      REQUIRE(global.barrier());
      expected.apply(testing::changes_of(single.take()));
      found.apply(testing::changes_of(global.take()));
      REQUIRE(found.rows() == expected.rows());
    }
  }
}

TEST_CASE("calls that cannot be merged are refused in phases") {
  auto spec = spec_of(false);
  spec.calls = {{"COUNT", {1}, -1, true}};
  for (const auto phase : {aggregate_phase::local, aggregate_phase::global}) {
    const auto make = [&](const graph::operator_node& node, const operator_context& context) {
      const auto refused = make_group_aggregate_operator(node_of(spec, phase), context);
      CHECK(refused.error().message == "aggregates that cannot be merged: group");
      return make_group_aggregate_operator(node, context);
    };
    operator_harness(node_of(spec_of(false), aggregate_phase::single), make);
  }
}

TEST_SUITE_END();

} // namespace headrace::task
