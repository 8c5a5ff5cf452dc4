#include "libtask/operator/join/join_operator.hpp"

#include "test/support/chain_harness.hpp"
#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"
#include "test/support/testing_file_system.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/hash.hpp"
#include "libgraph/data/key_group.hpp"
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
using graph::row_kind;
using testing::chain_harness;

/// One row of either side: a key, a number and a text.
struct side_row {
  std::optional<std::int32_t> k = {};
  std::int64_t v = 0;
  std::string s = {};
  row_kind kind = row_kind::insert;
};

graph::row_type_ptr side_type() {
  static const auto type =
      std::make_shared<const logical_type>(logical_type::row({{"k", logical_type::integer(), {}},
                                                              {"v", logical_type::bigint(), {}},
                                                              {"s", logical_type::string(), {}}})
                                               .not_null());
  return type;
}

graph::record_batch batch_of(const std::vector<side_row>& rows) {
  graph::batch_builder out(side_type());
  for (const auto& row : rows) {
    if (row.k)
      out.column(0).append(*row.k);
    else
      out.column(0).append_null();
    out.column(1).append(row.v);
    out.column(2).append_string(row.s);
    out.end_row(row.kind);
  }
  return out.finish();
}

/// `v` of the left side is less than `v` of the right one.
graph::expression less() {
  const auto type = logical_type::bigint();
  return graph::make_call("<", logical_type::boolean(),
                          {graph::make_column(1, type), graph::make_column(4, type)});
}

bool is_left_alone(join_kind kind) { return kind == join_kind::semi || kind == join_kind::anti; }

graph::job_vertex vertex_of(graph::join_spec spec) {
  spec.left.key_columns = {0};
  spec.right.key_columns = {0};
  if (spec.null_safe.empty())
    spec.null_safe = {0};
  auto fields = side_type()->fields();
  if (!is_left_alone(spec.kind))
    fields.insert(fields.end(), side_type()->fields().begin(), side_type()->fields().end());
  auto vertex = testing::vertex_of(spec, *side_type(), logical_type::row(fields).not_null());
  vertex.operators[0].input_types.push_back(*side_type());
  vertex.inputs = {{{5, 6}, 0}, {{5, 7}, 1}};
  return vertex;
}

graph::join_spec spec_of(join_kind kind, bool retracts = true, graph::expression condition = {}) {
  graph::join_spec spec;
  spec.kind = kind;
  spec.left.retracts = retracts;
  spec.right.retracts = retracts;
  spec.condition = std::move(condition);
  return spec;
}

/// "+I[1, 2]", one a row.
std::vector<std::string> changes_of(const std::vector<graph::record_batch>& batches) {
  std::vector<std::string> out;
  for (const auto& batch : batches) {
    testing::check_valid(batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto row = batch.row_at(i);
      std::string text;
      graph::format_kind(batch.kinds() == nullptr ? row_kind::insert : batch.kinds()[row], text);
      text += '[';
      for (std::size_t k = 0; k < batch.column_count(); ++k) {
        text += k > 0 ? ", " : "";
        graph::format_value(batch.at(k), row, text);
      }
      out.push_back(text + "]");
    }
  }
  return out;
}

using lines = std::vector<std::string>;

class joined {
public:
  explicit joined(graph::join_spec spec, chain_harness::options how = {})
      : harness_(vertex_of(std::move(spec)), {}, how) {
    harness_.open();
  }
  lines left(const std::vector<side_row>& rows) { return push(0, rows); }
  lines right(const std::vector<side_row>& rows) { return push(1, rows); }
  chain_harness& harness() { return harness_; }

private:
  lines push(std::int32_t input, const std::vector<side_row>& rows) {
    harness_.push(input, batch_of(rows));
    return changes_of(harness_.take_batches());
  }
  chain_harness harness_;
};

} // namespace

TEST_SUITE_BEGIN("task/operator/join/join_operator");

TEST_CASE("an inner join gives each pair once, with the kind of the row that made it") {
  for (const auto* backend : {"hashmap", "rocksdb"}) {
    chain_harness::options how;
    how.backend = backend;
    joined join(spec_of(join_kind::inner), how);

    CHECK(join.left({{1, 10, "a"}, {2, 20, "b"}}).empty());
    CHECK(join.right({{1, 11, "x"}, {3, 30, "z"}, {1, 12, "long enough to lie elsewhere"}}) ==
          lines{"+I[1, 10, a, 1, 11, x]", "+I[1, 10, a, 1, 12, long enough to lie elsewhere]"});
    CHECK(join.left({{1, 10, "a"}, {1, 13, "c", row_kind::update_after}}) ==
          lines{"+I[1, 10, a, 1, 11, x]", "+I[1, 10, a, 1, 12, long enough to lie elsewhere]",
                "+U[1, 13, c, 1, 11, x]", "+U[1, 13, c, 1, 12, long enough to lie elsewhere]"});
    // Equal rows: one goes, the other stays.
    CHECK(join.left({{1, 10, "a", row_kind::delete_}}).size() == 2);
    CHECK(join.right({{1, 11, "x", row_kind::update_before}}) ==
          lines{"-U[1, 10, a, 1, 11, x]", "-U[1, 13, c, 1, 11, x]"});
  }
}

TEST_CASE("NULL matches nothing, unless the key is null-safe") {
  joined plain(spec_of(join_kind::inner));
  plain.left({{{}, 1, "a"}});
  CHECK(plain.right({{{}, 2, "b"}}).empty());

  auto spec = spec_of(join_kind::inner);
  spec.null_safe = {1};
  joined safe(spec);
  safe.left({{{}, 1, "a"}});
  CHECK(safe.right({{{}, 2, "b"}}) == lines{"+I[null, 1, a, null, 2, b]"});

  joined outer(spec_of(join_kind::full));
  CHECK(outer.left({{{}, 1, "a"}}) == lines{"+I[null, 1, a, null, null, null]"});
  CHECK(outer.right({{{}, 2, "b"}}) == lines{"+I[null, null, null, null, 2, b]"});
  CHECK(outer.left({{{}, 1, "a", row_kind::delete_}}) == lines{"-D[null, 1, a, null, null, null]"});
}

TEST_CASE("the row without a match of an outer join goes with the first, and comes with the last") {
  joined join(spec_of(join_kind::left));

  CHECK(join.left({{1, 10, "a"}}) == lines{"+I[1, 10, a, null, null, null]"});
  CHECK(join.right({{1, 11, "x"}, {1, 12, "y"}}) == lines{"-D[1, 10, a, null, null, null]",
                                                          "+I[1, 10, a, 1, 11, x]",
                                                          "+I[1, 10, a, 1, 12, y]"});
  CHECK(join.right({{1, 11, "x", row_kind::delete_}}) == lines{"-D[1, 10, a, 1, 11, x]"});
  CHECK(join.right({{1, 12, "y", row_kind::delete_}}) ==
        lines{"-D[1, 10, a, 1, 12, y]", "+I[1, 10, a, null, null, null]"});
  CHECK(join.left({{1, 10, "a", row_kind::delete_}}) == lines{"-D[1, 10, a, null, null, null]"});
}

TEST_CASE("a full join has a row for what is on one side alone, whichever it is") {
  joined join(spec_of(join_kind::full, true, less()));

  CHECK(join.right({{1, 5, "x"}}) == lines{"+I[null, null, null, 1, 5, x]"});
  CHECK(join.left({{1, 9, "a"}}) == lines{"+I[1, 9, a, null, null, null]"});
  CHECK(join.left({{1, 4, "b"}}) == lines{"-D[null, null, null, 1, 5, x]", "+I[1, 4, b, 1, 5, x]"});
  CHECK(join.right({{1, 10, "y"}}) ==
        lines{"-D[1, 9, a, null, null, null]", "+I[1, 9, a, 1, 10, y]", "+I[1, 4, b, 1, 10, y]"});
}

TEST_CASE("semi and anti joins tell the first match and the last") {
  joined semi(spec_of(join_kind::semi));
  CHECK(semi.left({{1, 10, "a"}, {1, 10, "a"}}).empty());
  CHECK(semi.right({{1, 1, "x"}, {1, 2, "y"}}) == lines{"+I[1, 10, a]", "+I[1, 10, a]"});
  CHECK(semi.right({{1, 1, "x", row_kind::delete_}}).empty());
  CHECK(semi.right({{1, 2, "y", row_kind::delete_}}) == lines{"-D[1, 10, a]", "-D[1, 10, a]"});

  joined anti(spec_of(join_kind::anti));
  CHECK(anti.left({{1, 10, "a"}, {{}, 11, "b"}}) == lines{"+I[1, 10, a]", "+I[null, 11, b]"});
  CHECK(anti.right({{1, 1, "x"}, {{}, 2, "y"}}) == lines{"-D[1, 10, a]"});
  CHECK(anti.right({{1, 1, "x", row_kind::delete_}}) == lines{"+I[1, 10, a]"});
  CHECK(anti.left({{{}, 11, "b", row_kind::delete_}}) == lines{"-D[null, 11, b]"});
}

TEST_CASE("a key with many rows is joined in pieces") {
  joined join(spec_of(join_kind::left, false));
  std::vector<side_row> many;
  for (std::int64_t i = 0; i < 10'000; ++i)
    many.push_back({1, i, "row"});
  join.left(many);

  join.harness().chain->add(1, batch_of({{1, 0, "x"}, {1, 1, "y"}}));
  std::size_t steps = 0;
  while (!join.harness().chain->is_drained()) {
    REQUIRE(join.harness().chain->step({100, 1U << 20U}));
    ++steps;
    for (const auto& batch : join.harness().take_batches())
      CHECK(batch.size() <= 200); // with the rows that are taken back
  }
  CHECK(steps >= 200);
}

TEST_CASE("rows that are only added lie in chunks, which are read and added to one by one") {
  for (const auto* backend : {"hashmap", "rocksdb"}) {
    chain_harness::options how;
    how.backend = backend;
    joined join(spec_of(join_kind::inner, false), how);
    std::size_t rows = 0;
    for (const std::size_t count : {3, 2000, 1, 1, 700, 5}) {
      std::vector<side_row> some;
      for (std::size_t i = 0; i < count; ++i)
        some.push_back(
            {static_cast<std::int32_t>(i % 2), static_cast<std::int64_t>(rows + i),
             i % 100 == 0 ? std::string(20'000, 'x') : "some bytes more than a slot has"});
      rows += count;
      join.left(some);
      std::map<std::int64_t, int> seen;
      join.harness().push(1, batch_of({{0, 1, "a"}, {1, 1, "b"}}));
      for (const auto& batch : join.harness().take_batches())
        for (std::size_t i = 0; i < batch.size(); ++i)
          ++seen[batch.at(1).values<std::int64_t>()[batch.row_at(i)]];
      CHECK(seen.size() == rows);
      CHECK(
          std::all_of(seen.begin(), seen.end(), [](const auto& each) { return each.second == 1; }));
    }
  }
}

TEST_CASE("rows are not joined any more when their time to live is over") {
  for (const auto* backend : {"hashmap", "rocksdb"}) {
    chain_harness::options how;
    how.backend = backend;
    auto spec = spec_of(join_kind::inner, false);
    spec.left.state_ttl_ms = 1000;
    joined join(spec, how);
    join.left({{1, 1, "old"}});
    join.harness().time.advance_ms(600);
    join.left({{1, 2, "new"}});
    CHECK(join.right({{1, 3, "x"}}).size() == 2);
    join.harness().time.advance_ms(600);
    CHECK(join.right({{1, 3, "x"}}) == lines{"+I[1, 2, new, 1, 3, x]"});
    join.harness().time.advance_ms(600);
    CHECK(join.right({{1, 3, "x"}}).empty());
    CHECK(join.left({{1, 4, "z"}}).size() == 3); // of the right side nothing expires
  }
}

TEST_CASE("with a mini-batch what comes and goes is not told, nor what finds its match") {
  auto spec = spec_of(join_kind::left);
  spec.mini_batch = {6, 100};
  chain_harness harness(vertex_of(spec));
  harness.open();
  harness.push(0, batch_of({{1, 1, "a"}, {2, 2, "b"}}));
  harness.push(0, batch_of({{2, 2, "b", row_kind::delete_}}));
  harness.push(1, batch_of({{1, 5, "x"}}));
  CHECK(harness.take_batches().empty());

  harness.watermark(7);
  CHECK(harness.take_watermarks().empty());
  harness.push(1, batch_of({{3, 5, "y"}, {3, 5, "y", row_kind::delete_}, {1, 6, "z"}}));

  CHECK(changes_of(harness.take_batches()) == lines{"+I[1, 1, a, 1, 5, x]"});
  CHECK(harness.take_watermarks() == std::vector<std::int64_t>{7});
  harness.end();
  CHECK(changes_of(harness.take_batches()) == lines{"+I[1, 1, a, 1, 6, z]"});
}

// --- random changes -----------------------------------------------------------------------------

namespace {

struct random_join {
  graph::join_spec spec;
  bool has_condition = false;
};

std::string text_of(const side_row& row) {
  return (row.k ? std::to_string(*row.k) : "null") + ", " + std::to_string(row.v) + ", " + row.s;
}

/// What the join of all rows is, each line as often as it comes.
std::map<std::string, int> expected_of(const random_join& how, const std::vector<side_row>& left,
                                       const std::vector<side_row>& right) {
  const std::string missing = "null, null, null";
  const auto kind = how.spec.kind;
  std::map<std::string, int> out;
  const auto matches = [&](const side_row& one, const side_row& other) {
    const bool is_equal =
        how.spec.null_safe[0] != 0 ? one.k == other.k : one.k && other.k && *one.k == *other.k;
    return is_equal && (!how.has_condition || one.v < other.v);
  };
  std::vector<bool> is_matched(right.size(), false);
  for (const auto& one : left) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
      if (!matches(one, right[i]))
        continue;
      ++count;
      is_matched[i] = true;
      if (!is_left_alone(kind))
        ++out["[" + text_of(one) + ", " + text_of(right[i]) + "]"];
    }
    if ((kind == join_kind::semi && count > 0) || (kind == join_kind::anti && count == 0))
      ++out["[" + text_of(one) + "]"];
    if ((kind == join_kind::left || kind == join_kind::full) && count == 0)
      ++out["[" + text_of(one) + ", " + missing + "]"];
  }
  for (std::size_t i = 0; i < right.size(); ++i)
    if ((kind == join_kind::right || kind == join_kind::full) && !is_matched[i])
      ++out["[" + missing + ", " + text_of(right[i]) + "]"];
  return out;
}

/// Some rows that come, and some of those that are there, and go.
std::vector<side_row> random_changes(testing::dice& random, bool retracts, bool has_large,
                                     std::vector<side_row>& live) {
  std::vector<side_row> out;
  for (auto count = 1 + random.below(8); count > 0; --count) {
    if (retracts && !live.empty() && random.one_in(3)) {
      const auto at = random.below(live.size());
      auto gone = live[at];
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
      gone.kind = random.one_in(2) ? row_kind::delete_ : row_kind::update_before;
      out.push_back(gone);
      continue;
    }
    side_row made;
    if (!random.one_in(5))
      made.k = static_cast<std::int32_t>(random.below(4));
    made.v = static_cast<std::int64_t>(random.below(4));
    made.s = random.one_in(3) ? "a text of more than twelve bytes" : "b";
    if (has_large && random.one_in(3))
      made.s = std::string(6000, static_cast<char>('a' + random.below(3)));
    live.push_back(made);
    made.kind = random.one_in(2) ? row_kind::insert : row_kind::update_after;
    out.push_back(made);
  }
  return out;
}

/// Subtasks of one join: rows go to the one that has their key.
class subtasks {
public:
  subtasks(const graph::join_spec& spec, std::int32_t count, const std::string& backend,
           testing::testing_file_system& files, const state::task_state_snapshot& from) {
    for (std::int32_t i = 0; i < count; ++i) {
      chain_harness::options how;
      how.subtask = i;
      how.parallelism = count;
      how.backend = backend;
      all_.push_back(
          std::make_unique<chain_harness>(vertex_of(spec), graph::function_table(), how, &files));
      all_.back()->open(from);
    }
  }
  void push(std::int32_t input, const std::vector<side_row>& rows) {
    std::vector<std::vector<side_row>> parts(all_.size());
    for (const auto& row : rows) {
      const auto hash = row.k ? graph::hash_of(std::int64_t{*row.k}) : graph::hash_of_null();
      const auto group = graph::key_group_of(hash, 8);
      parts[static_cast<std::size_t>(
                graph::subtask_of(group, 8, static_cast<std::int32_t>(all_.size())))]
          .push_back(row);
    }
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (!parts[i].empty())
        all_[i]->push(input, batch_of(parts[i]));
  }
  lines take() {
    lines out;
    for (auto& each : all_)
      for (auto& line : changes_of(each->take_batches()))
        out.push_back(std::move(line));
    return out;
  }
  state::task_state_snapshot snapshot(std::int64_t& next) {
    state::task_state_snapshot out;
    for (auto& each : all_)
      for (auto& [id, part] : each->snapshot(next++).operators)
        out.operators[id].keyed.insert(out.operators[id].keyed.end(), part.keyed.begin(),
                                       part.keyed.end());
    return out;
  }

private:
  std::vector<std::unique_ptr<chain_harness>> all_;
};

} // namespace

TEST_CASE("random changes of both sides lead to the join of the rows that are left") {
  testing::dice random(testing::seed());
  for (int run = 0; run < testing::runs(60); ++run) {
    random_join how;
    how.spec.kind = static_cast<join_kind>(random.below(6));
    how.spec.left.retracts = random.one_in(2);
    how.spec.right.retracts = random.one_in(2);
    how.spec.null_safe = {static_cast<std::uint8_t>(random.below(2))};
    how.has_condition = random.one_in(2);
    if (how.has_condition)
      how.spec.condition = less();
    const std::string backend = random.one_in(4) ? "rocksdb" : "hashmap";
    const bool has_large = random.one_in(3); // rows that fill chunks of a key
    if (random.one_in(2))
      how.spec.mini_batch = {static_cast<std::int64_t>(1 + random.below(20)), 100};
    CAPTURE(static_cast<int>(how.spec.kind));
    CAPTURE(backend);
    testing::testing_file_system files;
    std::int64_t next = 1;
    auto tasks = std::make_unique<subtasks>(how.spec, 1 + random.below(2), backend, files,
                                            state::task_state_snapshot());
    std::vector<side_row> live[2];
    std::map<std::string, int> table;
    const auto apply = [&] {
      for (const auto& line : tasks->take()) {
        CAPTURE(line);
        auto& count = table[line.substr(2)];
        count += line[0] == '+' ? 1 : -1;
        CHECK(count >= 0);
      }
      std::erase_if(table, [](const auto& each) { return each.second == 0; });
    };
    for (int round = 0; round < 12; ++round) {
      if (random.one_in(4)) {
        const auto stored = tasks->snapshot(next);
        apply();
        tasks.reset();
        tasks = std::make_unique<subtasks>(how.spec, 1 + random.below(3), backend, files, stored);
      }
      const auto side = random.below(2);
      tasks->push(static_cast<std::int32_t>(side),
                  random_changes(random,
                                 side == 0 ? how.spec.left.retracts : how.spec.right.retracts,
                                 has_large, live[side]));
      apply();
      if (how.spec.mini_batch.is_on() && !random.one_in(3))
        continue; // rows of several rounds, of both sides, in a bundle
      tasks->snapshot(next);
      apply();
      REQUIRE(table == expected_of(how, live[0], live[1]));
    }
  }
}

TEST_CASE("what cannot be joined is refused by the graph's check") {
  const auto checked = [](auto change) {
    auto vertex = vertex_of(spec_of(join_kind::left));
    change(vertex.operators[0], std::get<graph::join_spec>(vertex.operators[0].spec));
    vertex.outputs.clear();
    return graph::validate(vertex);
  };
  REQUIRE(checked([](auto&, auto&) {}));
  CHECK(checked([](auto&, auto& spec) { spec.right.key_columns = {2}; }).error().message ==
        "operator \"test operator\": keys of different types: INT and STRING");
  CHECK(checked([](auto&, auto& spec) {
          spec.right.key_columns = {0, 1};
        })
            .error()
            .code == errc::invalid_graph);
  CHECK(checked([](auto&, auto& spec) { spec.left.key_columns = {7}; }).error().code ==
        errc::invalid_graph);
  CHECK(checked([](auto&, auto& spec) { spec.kind = join_kind::semi; }).error().code ==
        errc::type_mismatch);
  CHECK(checked([](auto&, auto& spec) {
          spec.condition = graph::make_column(1, logical_type::bigint());
        })
            .error()
            .code == errc::type_mismatch);
  CHECK(checked([](auto& node, auto&) { node.input_types.pop_back(); }).error().message ==
        "operator \"test operator\": 1 inputs, takes 2");
  CHECK(checked([](auto&, auto& spec) { spec.left.state_ttl_ms = -1; }).error().code ==
        errc::invalid_graph);
}

TEST_SUITE_END();

} // namespace headrace::task
