#include "libtask/operator/rank/rank_operator.hpp"

#include "test/support/changelog.hpp"
#include "test/support/operator_harness.hpp"
#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"
#include "libgraph/data/batch_builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headrace::task {
namespace {

using graph::logical_type;
using graph::rank_spec;
using graph::row_kind;
using testing::changes_of;
using testing::operator_harness;
using lines = std::vector<std::string>;

/// k, v (may be NULL), text.
struct input_row {
  std::int64_t k = 0;
  std::optional<std::int32_t> v = {};
  std::string text = {};
  row_kind kind = row_kind::insert;
};

graph::row_type_ptr input_type() {
  static const auto type =
      std::make_shared<const logical_type>(logical_type::row({{"k", logical_type::bigint(), {}},
                                                              {"v", logical_type::integer(), {}},
                                                              {"s", logical_type::string(), {}}}));
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
    out.end_row(row.kind);
  }
  return out.finish();
}

/// The rows of ranks up to `last` by v, the greatest first.
rank_spec top(std::int64_t last) {
  rank_spec spec;
  spec.key_columns = {0};
  spec.order = {{1, true, false}};
  spec.last = last;
  return spec;
}

graph::operator_node node_of(const rank_spec& spec) {
  auto fields = input_type()->fields();
  if (spec.outputs_rank)
    fields.push_back({"n", logical_type::bigint().not_null(), {}});
  graph::operator_node node;
  node.id = {1, 2};
  node.name = "rank";
  node.spec = spec;
  node.input_types = {*input_type()};
  node.output_type = logical_type::row(std::move(fields));
  return node;
}

std::string text_of(const input_row& row) {
  return std::to_string(row.k) + ", " + (row.v ? std::to_string(*row.v) : "null") + ", " + row.text;
}

/// By v, descending, NULL last.
bool is_before(const input_row& left, const input_row& right) {
  if (!left.v || !right.v)
    return left.v.has_value() && !right.v.has_value();
  return *left.v > *right.v;
}

} // namespace

TEST_SUITE_BEGIN("task/operator/rank/rank_operator");

TEST_CASE("rows enter while there is a place, then in the place of the last one") {
  operator_harness harness(node_of(top(2)), make_rank_operator);

  REQUIRE(harness.push(batch_of({{1, 5, "a"}, {2, 1, "b"}, {1, 3, "c"}, {1, 2, "d"}})));
  CHECK(changes_of(harness.take()) == lines{"+I[1, 5, a]", "+I[2, 1, b]", "+I[1, 3, c]"});
  // Of equal ones the earlier stays.
  REQUIRE(harness.push(batch_of({{1, 3, "e"}, {1, 9, "f"}, {1, {}, "g"}})));
  CHECK(changes_of(harness.take()) == lines{"-D[1, 3, c]", "+I[1, 9, f]"});
}

TEST_CASE("with the rank all rows behind a change come anew") {
  auto spec = top(3);
  spec.outputs_rank = true;
  operator_harness harness(node_of(spec), make_rank_operator);

  REQUIRE(harness.push(batch_of({{1, 5, "a"}, {1, 7, "b"}})));
  CHECK(changes_of(harness.take()) ==
        lines{"+I[1, 5, a, 1]", "-U[1, 5, a, 1]", "+U[1, 7, b, 1]", "+I[1, 5, a, 2]"});
  REQUIRE(harness.push(batch_of({{1, 4, "c"}, {1, 6, "d"}, {1, 1, "e"}})));
  CHECK(changes_of(harness.take()) == lines{"+I[1, 4, c, 3]", "-U[1, 5, a, 2]", "+U[1, 6, d, 2]",
                                            "-U[1, 4, c, 3]", "+U[1, 5, a, 3]"});
}

TEST_CASE("ranks may begin behind the first") {
  auto spec = top(3);
  spec.first = 2;
  spec.outputs_rank = true;
  operator_harness ranked(node_of(spec), make_rank_operator);
  REQUIRE(ranked.push(batch_of({{1, 5, "a"}, {1, 7, "b"}, {1, 6, "c"}})));
  CHECK(changes_of(ranked.take()) ==
        lines{"+I[1, 5, a, 2]", "-U[1, 5, a, 2]", "+U[1, 6, c, 2]", "+I[1, 5, a, 3]"});

  spec.outputs_rank = false;
  operator_harness harness(node_of(spec), make_rank_operator);
  REQUIRE(harness.push(batch_of({{1, 5, "a"}, {1, 7, "b"}, {1, 6, "c"}, {1, 8, "d"}})));
  CHECK(changes_of(harness.take()) ==
        lines{"+I[1, 5, a]", "+I[1, 6, c]", "-D[1, 5, a]", "+I[1, 7, b]"});
}

TEST_CASE("a row that goes lets the next one in") {
  auto spec = top(2);
  spec.input_retracts = true;
  operator_harness harness(node_of(spec), make_rank_operator);

  REQUIRE(
      harness.push(batch_of({{1, 5, "a"}, {1, 7, "b"}, {1, 4, "c"}, {1, 4, "d"}, {1, 6, "e"}})));
  CHECK(changes_of(harness.take()) ==
        lines{"+I[1, 5, a]", "+I[1, 7, b]", "-D[1, 5, a]", "+I[1, 6, e]"});
  REQUIRE(harness.push(batch_of({{1, 7, "b", row_kind::delete_},
                                 {1, 4, "d", row_kind::update_before},
                                 {1, 6, "e", row_kind::update_before},
                                 {1, 9, "x", row_kind::delete_},
                                 {1, 5, "a", row_kind::delete_},
                                 {1, 4, "c", row_kind::delete_}})));
  CHECK(changes_of(harness.take()) == lines{"-D[1, 7, b]", "+I[1, 5, a]", "-D[1, 6, e]",
                                            "+I[1, 4, c]", "-D[1, 5, a]", "-D[1, 4, c]"});
}

TEST_CASE("one rank is updated, and -U is left out where nobody needs it") {
  auto spec = top(1);
  operator_harness told(node_of(spec), make_rank_operator);
  REQUIRE(told.push(batch_of({{1, 5, "a"}, {1, 6, "b"}})));
  CHECK(changes_of(told.take()) == lines{"+I[1, 5, a]", "-U[1, 5, a]", "+U[1, 6, b]"});

  spec.emits_update_before = false;
  operator_harness harness(node_of(spec), make_rank_operator);
  REQUIRE(harness.push(batch_of({{1, 5, "a"}, {1, 6, "b"}, {1, 6, "c"}})));
  CHECK(changes_of(harness.take()) == lines{"+I[1, 5, a]", "+U[1, 6, b]"});
}

TEST_CASE("the first or the latest row of a key") {
  rank_spec spec;
  spec.key_columns = {0};
  operator_harness first(node_of(spec), make_rank_operator);
  REQUIRE(first.push(batch_of({{1, 5, "a"}, {1, 6, "b"}, {2, 1, "c"}})));
  CHECK(changes_of(first.take()) == lines{"+I[1, 5, a]", "+I[2, 1, c]"});

  spec.order = {{1, true, false}};
  spec.prefers_latest = true;
  operator_harness latest(node_of(spec), make_rank_operator);
  REQUIRE(latest.push(batch_of({{1, 5, "a"}, {1, 5, "b"}, {1, 4, "c"}})));
  CHECK(changes_of(latest.take()) == lines{"+I[1, 5, a]", "-U[1, 5, a]", "+U[1, 5, b]"});
}

TEST_CASE("with a mini-batch only the best row of a bundle is told") {
  auto spec = top(1);
  spec.mini_batch = {4, 100};
  operator_harness harness(node_of(spec), make_rank_operator);

  REQUIRE(harness.push(batch_of({{1, 1, "a"}, {1, 5, "b"}, {2, 3, "c"}, {1, 5, "d"}})));
  CHECK(changes_of(harness.take()) == lines{"+I[1, 5, b]", "+I[2, 3, c]"});
  REQUIRE(harness.push(batch_of({{1, 6, "e"}, {1, 9, "f"}, {2, 1, "g"}})));
  REQUIRE(harness.end_input());
  CHECK(changes_of(harness.take()) == lines{"-U[1, 5, b]", "+U[1, 9, f]"});
}

TEST_CASE("the latest of a bundle is told, and nothing of what it replaces") {
  rank_spec spec;
  spec.key_columns = {0};
  spec.prefers_latest = true;
  spec.mini_batch = {3, 100};
  operator_harness harness(node_of(spec), make_rank_operator);

  REQUIRE(harness.push(batch_of({{1, 9, "a"}, {1, 1, "b"}, {2, 2, "c"}})));
  CHECK(changes_of(harness.take()) == lines{"+I[1, 1, b]", "+I[2, 2, c]"});
  REQUIRE(harness.push(batch_of({{1, 2, "d"}, {1, 3, "e"}, {1, 4, "f"}})));
  CHECK(changes_of(harness.take()) == lines{"-U[1, 1, b]", "+U[1, 4, f]"});
}

TEST_CASE("what expired is as if it had never been") {
  for (const auto* backend : {"hashmap", "rocksdb"}) {
    CAPTURE(backend);
    auto spec = top(2);
    spec.state_ttl_ms = 1000;
    spec.input_retracts = true;
    operator_harness harness(node_of(spec), make_rank_operator, {}, backend);
    REQUIRE(harness.push(batch_of({{1, 5, "a"}, {1, 4, "b"}, {1, 3, "c"}})));
    harness.take();
    harness.clock().advance_ms(1000);
    REQUIRE(harness.push(batch_of({{1, 5, "a", row_kind::delete_}, {1, 1, "d"}})));
    CHECK(changes_of(harness.take()) == lines{"+I[1, 1, d]"});

    spec.input_retracts = false;
    operator_harness appending(node_of(spec), make_rank_operator, {}, backend);
    REQUIRE(appending.push(batch_of({{1, 5, "a"}, {1, 4, "b"}})));
    appending.take();
    appending.clock().advance_ms(1000);
    REQUIRE(appending.push(batch_of({{1, 1, "d"}, {2, 2, "e"}})));
    CHECK(changes_of(appending.take()) == lines{"+I[1, 1, d]", "+I[2, 2, e]"});
  }
}

TEST_CASE("a drain gives a bounded number of rows") {
  auto spec = top(10);
  spec.outputs_rank = true;
  operator_harness harness(node_of(spec), make_rank_operator);
  std::vector<input_row> rows;
  for (int i = 0; i < 500; ++i)
    rows.push_back({1, i, "x"});
  harness.set_budget(100);
  harness.take_drains();

  REQUIRE(harness.push(batch_of(rows)));

  CHECK(harness.take_drains() >= 100);
  for (const auto& each : harness.take())
    CHECK(each.size() <= 200);
}

TEST_CASE("random changes lead to the ranks of the rows that are left") {
  testing::dice random(testing::seed());
  for (int run = 0; run < testing::runs(30); ++run) {
    auto spec = top(1 + static_cast<std::int64_t>(random.below(5)));
    spec.first = 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(spec.last)));
    spec.outputs_rank = random.one_in(2);
    spec.input_retracts = !random.one_in(3);
    const auto* backend = random.one_in(2) ? "hashmap" : "rocksdb";
    if (spec.last == 1 && !spec.input_retracts)
      spec.mini_batch = {static_cast<std::int64_t>(1 + random.below(60)), 100};
    operator_harness harness(node_of(spec), make_rank_operator, {}, backend);
    std::vector<input_row> live; // in the order in which they came
    testing::materialized_rows found;
    // Long texts make many pieces of the rows that wait.
    const std::string padding(random.one_in(2) ? 700 : 0, '.');
    for (int round = 0; round < 30; ++round) {
      std::vector<input_row> batch;
      for (auto count = 1 + random.below(20); count > 0; --count) {
        if (spec.input_retracts && !live.empty() && random.one_in(3)) {
          auto gone = live[random.below(live.size())];
          live.erase(std::find_if(live.begin(), live.end(), [&](const auto& each) {
            return text_of(each) == text_of(gone);
          }));
          gone.kind = random.one_in(2) ? row_kind::delete_ : row_kind::update_before;
          batch.push_back(gone);
          continue;
        }
        input_row made;
        made.k = static_cast<std::int64_t>(random.below(3));
        if (!random.one_in(6))
          made.v = static_cast<std::int32_t>(random.below(8)) - 3;
        made.text = std::string(1, static_cast<char>('a' + random.below(6))) + padding;
        live.push_back(made);
        made.kind = random.one_in(2) ? row_kind::insert : row_kind::update_after;
        batch.push_back(made);
      }
      REQUIRE(harness.push(batch_of(batch)));
      REQUIRE(harness.barrier());
      found.apply(changes_of(harness.take()));

      std::map<std::string, int> expected;
      for (std::int64_t k = 0; k < 3; ++k) {
        std::vector<input_row> of_key;
        for (const auto& each : live)
          if (each.k == k)
            of_key.push_back(each);
        std::stable_sort(of_key.begin(), of_key.end(), is_before);
        for (auto i = spec.first; i <= std::min<std::int64_t>(spec.last, std::ssize(of_key)); ++i)
          ++expected["[" + text_of(of_key[static_cast<std::size_t>(i) - 1]) +
                     (spec.outputs_rank ? ", " + std::to_string(i) : "") + "]"];
      }
      REQUIRE(found.rows() == expected);
      if (random.one_in(10))
        harness.restart(1 + static_cast<std::int32_t>(random.below(3)),
                        random.one_in(2) ? "hashmap" : "rocksdb", {0},
                        state::snapshot_kind::canonical);
    }
  }
}

TEST_CASE("what cannot be ranked is refused by the graph's check") {
  const auto checked = [](auto change) {
    auto node = node_of(top(3));
    change(node, std::get<rank_spec>(node.spec));
    graph::job_vertex vertex;
    vertex.id = {3, 4};
    vertex.name = "v";
    vertex.operators = {node};
    vertex.inputs = {{{5, 6}, 0}};
    return graph::validate(vertex);
  };
  REQUIRE(checked([](auto&, auto&) {}));
  CHECK(checked([](auto&, auto& spec) { spec.first = 4; }).error().message ==
        "operator \"rank\": no such ranks: 4 to 3");
  CHECK(checked([](auto&, auto& spec) { spec.first = 0; }).error().code == errc::invalid_graph);
  CHECK(checked([](auto&, auto& spec) { spec.last = 100'001; }).error().code ==
        errc::invalid_graph);
  CHECK(checked([](auto&, auto& spec) { spec.order[0].column = 3; }).error().code ==
        errc::invalid_graph);
  CHECK(checked([](auto&, auto& spec) { spec.prefers_latest = true; }).error().code ==
        errc::invalid_graph);
  CHECK(checked([](auto&, auto& spec) { spec.outputs_rank = true; }).error().code ==
        errc::type_mismatch);
  CHECK(checked([](auto&, auto& spec) { spec.state_ttl_ms = -1; }).error().code ==
        errc::invalid_graph);
}

TEST_CASE("rows that were kept for ever begin to age with a time to live") {
  for (const auto* backend : {"hashmap", "rocksdb"}) {
    CAPTURE(backend);
    operator_harness harness(node_of(top(1)), make_rank_operator, {}, backend);
    harness.clock().advance_ms(1'000'000);
    REQUIRE(harness.push(batch_of({{1, 5, "a"}, {2, 5, "b"}})));
    harness.take();

    auto spec = top(1);
    spec.state_ttl_ms = 1000;
    REQUIRE(harness.restart_as(node_of(spec), backend, state::snapshot_kind::canonical));
    REQUIRE(harness.push(batch_of({{1, 4, "c"}, {2, 6, "d"}})));
    CHECK(changes_of(harness.take()) == lines{"-U[2, 5, b]", "+U[2, 6, d]"});
    for (int i = 0; i < 4; ++i) {
      harness.clock().advance_ms(600);
      REQUIRE(harness.push(batch_of({{2, 7 + i, "e"}})));
    }
    CHECK(harness.state_rows() == 1);
  }
}

TEST_CASE("rows that were kept are not read as rows of another query") {
  operator_harness harness(node_of(top(3)), make_rank_operator);
  REQUIRE(harness.push(batch_of({{1, 5, "a"}})));
  auto ascending = top(3);
  ascending.order = {{1, false, false}};
  const auto turned =
      harness.restart_as(node_of(ascending), "hashmap", state::snapshot_kind::canonical);
  REQUIRE(!turned);
  CHECK(turned.error().message.starts_with("state is incompatible with the restored one: `query`, "
                                           "value: field 1 was `ordered by v DESC`, "
                                           "is `ordered by v`"));

  for (const bool retracts : {false, true})
    for (const auto& [before, after] : {std::pair(3, 1), std::pair(1, 3)}) {
      CAPTURE(retracts);
      CAPTURE(before);
      auto was = top(before);
      auto is = top(after);
      was.input_retracts = is.input_retracts = retracts;
      operator_harness of_others(node_of(was), make_rank_operator);
      REQUIRE(of_others.push(batch_of({{1, 5, "a"}})));
      const auto other =
          of_others.restart_as(node_of(is), "hashmap", state::snapshot_kind::canonical);
      REQUIRE(!other);
      CHECK(other.error().code == errc::incompatible_state);
      CHECK(to_string(other.error()).find("value: field 2 was `ranks 1 to ") != std::string::npos);
    }
}

TEST_CASE("rows that were kept in another way are not forgotten silently") {
  auto single = top(1);
  single.emits_update_before = false;
  operator_harness harness(node_of(top(1)), make_rank_operator);
  REQUIRE(harness.push(batch_of({{1, 5, "a"}})));
  const auto opened =
      harness.restart_as(node_of(single), "hashmap", state::snapshot_kind::canonical);
  REQUIRE(!opened);
  CHECK(opened.error().message.starts_with("checkpoint has a state that the operator no longer "
                                           "declares: `ranks`; go on with the query"));
}

TEST_SUITE_END();

} // namespace headrace::task
