#include "libtask/operator/aggregate/group_aggregate_operator.hpp"

#include "test/support/operator_harness.hpp"
#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/row_format.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace headrace::task {
namespace {

using graph::group_aggregate_call;
using graph::logical_type;
using graph::row_kind;
using testing::operator_harness;

/// k, v (may be NULL), cents as DECIMAL(10, 2), text, flag.
struct input_row {
  std::int64_t k = 0;
  std::optional<std::int32_t> v = {};
  std::int64_t cents = 0;
  std::string text = {};
  bool flag = true;
  row_kind kind = row_kind::insert;
};

graph::row_type_ptr input_type() {
  static const auto type = std::make_shared<const logical_type>(
      logical_type::row({{"k", logical_type::bigint(), {}},
                         {"v", logical_type::integer(), {}},
                         {"d", logical_type::decimal(10, 2), {}},
                         {"s", logical_type::string(), {}},
                         {"f", logical_type::boolean(), {}}}));
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
    out.column(2).append(graph::int128{row.cents});
    out.column(3).append_string(row.text);
    out.column(4).append(static_cast<std::uint8_t>(row.flag));
    out.end_row(row.kind);
  }
  return out.finish();
}

struct wanted_call {
  group_aggregate_call call;
  logical_type type;
};

graph::operator_node node_of(const std::vector<wanted_call>& calls, bool retracts,
                             bool emits_update_before = true, std::int64_t ttl_ms = 0) {
  graph::group_aggregate_spec spec;
  spec.key_columns = {0};
  spec.input_retracts = retracts;
  spec.emits_update_before = emits_update_before;
  spec.state_ttl_ms = ttl_ms;
  std::vector<logical_type::field> fields{{"k", logical_type::bigint(), {}}};
  for (const auto& each : calls) {
    spec.calls.push_back(each.call);
    fields.push_back({"c" + std::to_string(fields.size()), each.type, {}});
  }
  graph::operator_node node;
  node.id = {1, 2};
  node.name = "group";
  node.spec = spec;
  node.input_types = {*input_type()};
  node.output_type = logical_type::row(std::move(fields));
  return node;
}

/// "+I[1, 2]", one a row.
std::vector<std::string> changes_of(const std::vector<graph::record_batch>& batches) {
  std::vector<std::string> out;
  for (const auto& batch : batches)
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
  return out;
}

const wanted_call count_rows{{"COUNT", {}}, logical_type::bigint().not_null()};
const wanted_call sum_v{{"SUM", {1}}, logical_type::integer()};

using lines = std::vector<std::string>;

} // namespace

TEST_SUITE_BEGIN("task/operator/aggregate/group_aggregate_operator");

TEST_CASE("a group comes as +I, changes as -U and +U, and goes as -D") {
  operator_harness harness(node_of({count_rows, sum_v}, true), make_group_aggregate_operator);

  REQUIRE(harness.push(batch_of({{1, 5}, {2, 1}, {1, 7}})));
  CHECK(changes_of(harness.take()) ==
        lines{"+I[1, 1, 5]", "+I[2, 1, 1]", "-U[1, 1, 5]", "+U[1, 2, 12]"});

  REQUIRE(harness.push(batch_of({{1, 5, 0, "", true, row_kind::update_before},
                                 {1, 6, 0, "", true, row_kind::update_after},
                                 {2, 1, 0, "", true, row_kind::delete_}})));
  CHECK(changes_of(harness.take()) ==
        lines{"-U[1, 2, 12]", "+U[1, 1, 7]", "-U[1, 1, 7]", "+U[1, 2, 13]", "-D[2, 1, 1]"});

  REQUIRE(harness.push(batch_of({{2, {}}})));
  CHECK(changes_of(harness.take()) == lines{"+I[2, 1, null]"});
}

TEST_CASE("nothing is emitted where nothing changes, nor -U where nobody needs it") {
  const wanted_call least{{"MIN", {1}}, logical_type::integer()};
  operator_harness harness(node_of({least}, false, false), make_group_aggregate_operator);

  REQUIRE(harness.push(batch_of({{1, 5}, {1, 9}, {1, {}}, {1, 2}})));

  CHECK(changes_of(harness.take()) == lines{"+I[1, 5]", "+U[1, 2]"});
}

TEST_CASE("without calls it is the distinct keys") {
  operator_harness harness(node_of({}, true), make_group_aggregate_operator);

  REQUIRE(harness.push(batch_of({{1, 5}, {1, 6}, {2, 1}})));
  REQUIRE(harness.push(
      batch_of({{1, 5, 0, "", true, row_kind::delete_}, {1, 6, 0, "", true, row_kind::delete_}})));

  CHECK(changes_of(harness.take()) == lines{"+I[1]", "+I[2]", "-D[1]"});
}

TEST_CASE("a row that is taken back from a group that is not there is dropped") {
  operator_harness harness(node_of({count_rows}, true), make_group_aggregate_operator);

  REQUIRE(harness.push(batch_of({{1, 5, 0, "", true, row_kind::delete_}, {1, 6}})));

  CHECK(changes_of(harness.take()) == lines{"+I[1, 1]"});
}

TEST_CASE("filters and DISTINCT take some of the rows") {
  const wanted_call filtered{{"SUM", {1}, 4}, logical_type::integer()};
  const wanted_call distinct{{"COUNT", {1}, -1, true}, logical_type::bigint().not_null()};
  const wanted_call both{{"SUM", {1}, 4, true}, logical_type::integer()};
  operator_harness harness(node_of({filtered, distinct, both}, true),
                           make_group_aggregate_operator);

  REQUIRE(harness.push(batch_of({{1, 5, 0, "", false}, {1, 5}, {1, 5}, {1, {}}})));
  CHECK(changes_of(harness.take()) == lines{"+I[1, null, 1, null]", "-U[1, null, 1, null]",
                                            "+U[1, 5, 1, 5]", "-U[1, 5, 1, 5]", "+U[1, 10, 1, 5]"});
  REQUIRE(harness.push(batch_of({{1, 5, 0, "", true, row_kind::delete_}})));
  CHECK(changes_of(harness.take()) == lines{"-U[1, 10, 1, 5]", "+U[1, 5, 1, 5]"});
}

TEST_CASE("texts and lists of values") {
  const wanted_call least{{"MIN", {3}}, logical_type::string()};
  const wanted_call first{{"FIRST_VALUE", {3}}, logical_type::string()};
  const wanted_call last{{"LAST_VALUE", {3}}, logical_type::string()};
  const wanted_call joined{{"LISTAGG", {3}}, logical_type::string()};
  for (const bool retracts : {false, true}) {
    operator_harness harness(node_of({least, first, last, joined}, retracts, false),
                             make_group_aggregate_operator);
    REQUIRE(harness.push(batch_of({{1, 1, 0, "b"}, {1, 1, 0, "a, longer than twelve"}})));
    CHECK(changes_of(harness.take()) ==
          lines{"+I[1, b, b, b, b]",
                "+U[1, a, longer than twelve, b, a, longer than twelve, b,a, longer than twelve]"});
  }
}

TEST_CASE("rows that only come lead to the same column by column and row by row") {
  const auto big = logical_type::bigint();
  const std::vector<wanted_call> calls{
      count_rows,
      {{"COUNT", {1}, -1, true}, big},
      {{"COUNT", {1}, 4, true}, big},
      {{"COUNT", {3}, 4, true}, big},
      {{"SUM", {1}, -1, true}, logical_type::integer()},
      {{"MAX", {3}}, logical_type::string()},
      {{"MIN", {3}, 4}, logical_type::string()},
      {{"AVG", {2}, 4}, logical_type::decimal(38, 6)},
      {{"LISTAGG", {3}, 4, true}, logical_type::string()},
  };
  testing::dice random(testing::seed());
  for (int run = 0; run < testing::runs(20); ++run) {
    // Groups that may expire are taken row by row.
    constexpr std::int64_t never_ms = std::int64_t{1} << 40U;
    operator_harness by_column(node_of(calls, false), make_group_aggregate_operator);
    operator_harness by_row(node_of(calls, false, true, never_ms), make_group_aggregate_operator);
    std::map<std::string, std::string> tables[2];
    for (int round = 0; round < 10; ++round) {
      std::vector<input_row> rows;
      for (auto count = 1 + random.below(40); count > 0; --count) {
        input_row made;
        made.k = static_cast<std::int64_t>(random.below(4));
        if (!random.one_in(4))
          made.v = static_cast<std::int32_t>(random.below(9)) - 4;
        made.cents = static_cast<std::int64_t>(random.below(1000)) - 500;
        made.text = std::string(random.below(20), static_cast<char>('a' + random.below(3)));
        made.flag = random.one_in(2);
        rows.push_back(made);
      }
      REQUIRE(by_column.push(batch_of(rows)));
      REQUIRE(by_row.push(batch_of(rows)));
      if (random.one_in(4))
        by_column.restart(1 + static_cast<std::int32_t>(random.below(3)),
                          random.one_in(2) ? "hashmap" : "rocksdb", {0},
                          state::snapshot_kind::canonical);
      auto* harness = &by_column;
      for (auto& table : tables) {
        for (const auto& line : changes_of(harness->take())) {
          auto& row = table[line.substr(2, line.find(',') - 2)];
          if (line.starts_with("-U"))
            CHECK(row == line.substr(2));
          else
            row = line.substr(2);
        }
        harness = &by_row;
      }
      CHECK(tables[0] == tables[1]);
    }
  }
}

TEST_CASE("random changes of any kind lead to what is computed of the rows that are left") {
  const auto big = logical_type::bigint();
  const auto whole = logical_type::integer();
  const std::vector<wanted_call> calls{
      count_rows,
      {{"COUNT", {1}}, big},
      sum_v,
      {{"AVG", {1}}, whole},
      {{"MIN", {1}}, whole},
      {{"MAX", {1}}, whole},
      {{"COUNT", {1}, -1, true}, big},
      {{"SUM", {1}, 4}, whole},
      {{"SUM", {2}}, logical_type::decimal(38, 2)},
      {{"MAX", {2}}, logical_type::decimal(10, 2)},
      {{"MIN", {3}}, logical_type::string()},
      {{"LISTAGG", {3}}, logical_type::string()},
      {{"FIRST_VALUE", {1}}, whole},
      {{"VAR_POP", {2}}, logical_type::decimal(38, 6)},
  };
  testing::dice random(testing::seed());
  for (int run = 0; run < testing::runs(20); ++run) {
    auto node = node_of(calls, true, random.one_in(2));
    if (random.one_in(2))
      std::get<graph::group_aggregate_spec>(node.spec).mini_batch = {
          static_cast<std::int64_t>(1 + random.below(30)), 100};
    operator_harness harness(node, make_group_aggregate_operator);
    std::vector<input_row> live;
    // By key, in the order in which they came; of equal ones the first is the one that goes.
    std::map<std::int64_t, std::vector<std::int32_t>> numbers;
    std::map<std::int64_t, std::vector<std::string>> texts;
    std::map<std::string, std::string> table; // the results by key
    for (int round = 0; round < 20; ++round) {
      std::vector<input_row> batch;
      for (auto count = 1 + random.below(12); count > 0; --count) {
        if (!live.empty() && random.one_in(3)) {
          const auto at = random.below(live.size());
          auto gone = live[at];
          live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
          auto& of_key = texts[gone.k];
          of_key.erase(std::find(of_key.begin(), of_key.end(), gone.text));
          if (gone.v) {
            auto& kept = numbers[gone.k];
            kept.erase(std::find(kept.begin(), kept.end(), *gone.v));
          }
          gone.kind = random.one_in(2) ? row_kind::delete_ : row_kind::update_before;
          batch.push_back(gone);
          continue;
        }
        input_row made;
        made.k = static_cast<std::int64_t>(random.below(3));
        if (!random.one_in(4))
          made.v = static_cast<std::int32_t>(random.below(5)) - 2;
        made.cents = static_cast<std::int64_t>(random.below(1000)) - 500;
        made.text = std::string(1, static_cast<char>('a' + random.below(3)));
        made.flag = random.one_in(2);
        live.push_back(made);
        texts[made.k].push_back(made.text);
        if (made.v)
          numbers[made.k].push_back(*made.v);
        made.kind = random.one_in(2) ? row_kind::insert : row_kind::update_after;
        batch.push_back(made);
      }
      REQUIRE(harness.push(batch_of(batch)));
      if (random.one_in(3))
        harness.restart(1 + static_cast<std::int32_t>(random.below(3)),
                        random.one_in(2) ? "hashmap" : "rocksdb", {0},
                        state::snapshot_kind::canonical);
      REQUIRE(harness.barrier());
      for (const auto& line : changes_of(harness.take())) {
        const auto key = line.substr(2, line.find(',') - 2); // "[1"
        const auto results = line.substr(2);
        const auto kind = line.substr(0, 2);
        CAPTURE(line);
        if (kind == "+I") {
          CHECK(!table.contains(key));
          table[key] = results;
        } else if (kind == "+U") {
          table[key] = results;
        } else {
          CHECK(table[key] == results);
          if (kind == "-D")
            table.erase(key);
        }
      }

      std::map<std::string, std::string> expected;
      for (std::int64_t k = 0; k < 3; ++k) {
        std::int64_t rows = 0;
        std::int64_t values = 0;
        std::int32_t sum = 0;
        std::int32_t filtered = 0;
        bool has_filtered = false;
        std::int32_t least = 0;
        std::int32_t most = 0;
        std::set<std::int32_t> distinct;
        graph::int128 cents = 0;
        std::int64_t most_cents = 0;
        std::string least_text;
        std::string joined;
        for (const auto& each : texts[k])
          joined += (joined.empty() ? "" : ",") + each;
        const auto first =
            numbers[k].empty() ? std::string("null") : std::to_string(numbers[k].front());
        for (const auto& each : live) {
          if (each.k != k)
            continue;
          ++rows;
          cents += each.cents;
          most_cents = rows == 1 ? each.cents : std::max(most_cents, each.cents);
          least_text = rows == 1 ? each.text : std::min(least_text, each.text);
          if (!each.v)
            continue;
          ++values;
          sum += *each.v;
          least = values == 1 ? *each.v : std::min(least, *each.v);
          most = values == 1 ? *each.v : std::max(most, *each.v);
          distinct.insert(*each.v);
          if (each.flag) {
            filtered += *each.v;
            has_filtered = true;
          }
        }
        if (rows == 0)
          continue;
        const auto decimal = [](graph::int128 value) {
          std::string out;
          const auto magnitude = value < 0 ? -value : value;
          const auto rest = static_cast<int>(magnitude % 100);
          out += value < 0 ? "-" : "";
          out += std::to_string(static_cast<std::int64_t>(magnitude / 100)) + ".";
          return out + (rest < 10 ? "0" : "") + std::to_string(rest);
        };
        const auto if_any = [](bool is_any, std::int32_t value) {
          return is_any ? std::to_string(value) : std::string("null");
        };
        expected["[" + std::to_string(k)] =
            "[" + std::to_string(k) + ", " + std::to_string(rows) + ", " + std::to_string(values) +
            ", " + if_any(values > 0, sum) + ", " +
            if_any(values > 0, values > 0 ? sum / static_cast<std::int32_t>(values) : 0) + ", " +
            if_any(values > 0, least) + ", " + if_any(values > 0, most) + ", " +
            std::to_string(distinct.size()) + ", " + if_any(has_filtered, filtered) + ", " +
            decimal(cents) + ", " + decimal(most_cents) + ", " + least_text + ", " + joined + ", " +
            first;
      }
      REQUIRE(table.size() == expected.size());
      for (const auto& [key, results] : expected) {
        const auto& found = table[key];
        // The variance behind it is checked elsewhere.
        CHECK(found.substr(0, found.rfind(", ")) == results);
      }
    }
  }
}

TEST_CASE("a group that is not written for its time to live is as if it had never been") {
  for (const auto* backend : {"hashmap", "rocksdb"}) {
    const wanted_call most{{"MAX", {3}}, logical_type::string()};
    operator_harness harness(node_of({count_rows, most}, true, true, 1000),
                             make_group_aggregate_operator, {}, backend);
    REQUIRE(harness.push(batch_of({{1, 5, 0, "z"}})));
    CHECK(changes_of(harness.take()) == lines{"+I[1, 1, z]"});

    harness.clock().advance_ms(999);
    REQUIRE(harness.push(batch_of({{1, 5, 0, "a"}})));
    CHECK(changes_of(harness.take()) == lines{"-U[1, 1, z]", "+U[1, 2, z]"});

    // What was written last lives on, and what is taken back behind its time is dropped.
    harness.clock().advance_ms(1000);
    REQUIRE(harness.push(batch_of({{1, 5, 0, "z", true, row_kind::delete_}, {2, 5, 0, "x"}})));
    CHECK(changes_of(harness.take()) == lines{"+I[2, 1, x]"});
    REQUIRE(harness.push(batch_of({{1, 5, 0, "b"}})));
    CHECK(changes_of(harness.take()) == lines{"+I[1, 1, b]"});
  }
}

TEST_CASE("with a time to live a change is told though the results stay") {
  const wanted_call most{{"MAX", {1}}, logical_type::integer()};
  operator_harness harness(node_of({most}, false, false, 1000), make_group_aggregate_operator);

  REQUIRE(harness.push(batch_of({{1, 5}, {1, 3}})));

  CHECK(changes_of(harness.take()) == lines{"+I[1, 5]", "+U[1, 5]"});
}

TEST_CASE("averages and spreads") {
  const auto decimal = logical_type::decimal(38, 6);
  operator_harness harness(node_of({{{"AVG", {2}}, decimal},
                                    {{"VAR_POP", {2}}, decimal},
                                    {{"VAR_SAMP", {2}}, decimal},
                                    {{"STDDEV_POP", {2}}, decimal},
                                    {{"AVG", {1}}, logical_type::integer()}},
                                   false, false),
                           make_group_aggregate_operator);

  REQUIRE(harness.push(batch_of({{1, 1, 200}})));
  CHECK(changes_of(harness.take()) == lines{"+I[1, 2.000000, 0.000000, null, 0.000000, 1]"});
  REQUIRE(harness.push(batch_of({{1, 2, 400}, {1, 4, 600}})));
  const auto last = changes_of(harness.take()).back();
  CHECK(last == "+U[1, 4.000000, 2.666667, 4.000000, 1.632993, 2]");
}

TEST_CASE("a group that a bundle leaves as it was does not change what is told of others") {
  const wanted_call most{{"MAX", {1}}, logical_type::integer()};
  auto node = node_of({most}, false);
  std::get<graph::group_aggregate_spec>(node.spec).mini_batch = {3, 100};
  operator_harness harness(node, make_group_aggregate_operator);
  REQUIRE(harness.push(batch_of({{1, 10}, {2, 20}, {3, 30}})));
  harness.take();

  REQUIRE(harness.push(batch_of({{1, 5}, {2, 25}, {3, 35}})));

  CHECK(changes_of(harness.take()) == lines{"-U[2, 20]", "+U[2, 25]", "-U[3, 30]", "+U[3, 35]"});
}

TEST_CASE("with a mini-batch a group is told once a bundle") {
  const auto gone = row_kind::delete_;
  const wanted_call most{{"MAX", {3}}, logical_type::string()};
  for (const auto* backend : {"hashmap", "rocksdb"}) {
    auto node = node_of({count_rows, sum_v, most}, true);
    std::get<graph::group_aggregate_spec>(node.spec).mini_batch = {5, 100};
    operator_harness harness(node, make_group_aggregate_operator, {}, backend);

    // Of group 2 nothing is left, and what comes to the same is not told.
    REQUIRE(harness.push(batch_of({{1, 5, 0, "b"}, {2, 1, 0, "x"}, {1, 7, 0, "a"}})));
    CHECK(harness.take().empty());
    REQUIRE(harness.push(batch_of({{2, 1, 0, "x", true, gone}, {3, 4, 0, "c"}})));
    CHECK(changes_of(harness.take()) == lines{"+I[1, 2, 12, b]", "+I[3, 1, 4, c]"});
    REQUIRE(harness.push(batch_of({{1, 5, 0, "b", true, row_kind::update_before},
                                   {1, 6, 0, "z", true, row_kind::update_after},
                                   {1, 5, 0, "q"},
                                   {3, 4, 0, "c", true, gone},
                                   {1, 5, 0, "q", true, gone}})));
    CHECK(changes_of(harness.take()) ==
          lines{"-U[1, 2, 12, b]", "+U[1, 2, 13, z]", "-D[3, 1, 4, c]"});
    REQUIRE(harness.push(batch_of({{1, 6, 0, "z", true, row_kind::update_before},
                                   {1, 6, 0, "z", true, row_kind::update_after}})));
    REQUIRE(harness.end_input());
    CHECK(harness.take().empty());
  }
}

TEST_CASE("what a bundle leads to leaves in pieces") {
  auto node = node_of({count_rows}, false);
  std::get<graph::group_aggregate_spec>(node.spec).mini_batch = {1000, 100};
  operator_harness harness(node, make_group_aggregate_operator);
  harness.set_budget(50);
  std::vector<input_row> rows;
  for (std::int64_t k = 0; k < 1000; ++k)
    rows.push_back({k, 1});

  REQUIRE(harness.push(batch_of(rows)));

  const auto batches = harness.take();
  CHECK(batches.size() == 10);
  CHECK(changes_of(batches).size() == 1000);
}

TEST_CASE("what cannot be run is refused by the graph's check") {
  const auto checked = [](auto change) {
    auto node = node_of({count_rows, sum_v}, false);
    change(node, std::get<graph::group_aggregate_spec>(node.spec));
    graph::job_vertex vertex;
    vertex.id = {3, 4};
    vertex.name = "v";
    vertex.operators = {node};
    vertex.inputs = {{{5, 6}, 0}};
    return graph::validate(vertex);
  };
  REQUIRE(checked([](auto&, auto&) {}));
  CHECK(checked([](auto&, auto& spec) { spec.calls[1].function = "MEDIAN"; }).error().message ==
        "operator \"group\": aggregate cannot be run: MEDIAN");
  CHECK(checked([](auto&, auto& spec) { spec.calls[1].arguments = {3}; }).error().code ==
        errc::type_mismatch);
  CHECK(checked([](auto&, auto& spec) { spec.calls[1].arguments = {9}; }).error().code ==
        errc::invalid_graph);
  CHECK(checked([](auto&, auto& spec) { spec.calls[1].filter = 1; }).error().code ==
        errc::invalid_graph);
  CHECK(checked([](auto&, auto& spec) { spec.key_columns.clear(); }).error().code ==
        errc::invalid_graph);
  CHECK(checked([](auto&, auto& spec) { spec.state_ttl_ms = -1; }).error().code ==
        errc::invalid_graph);
  CHECK(checked([](auto&, auto& spec) {
          spec.mini_batch = {5, 0};
        })
            .error()
            .code == errc::invalid_graph);
  CHECK(checked([](auto&, auto& spec) { spec.phase = graph::aggregate_phase::local; })
            .error()
            .message == "operator \"group\": a phase of an aggregate without the other one");
  CHECK(checked([](auto& node, auto& spec) {
          spec.phase = graph::aggregate_phase::local;
          spec.other_end = node.output_type;
        })
            .error()
            .code == errc::type_mismatch);
}

TEST_CASE("groups that were kept for ever begin to age with a time to live") {
  for (const auto* backend : {"hashmap", "rocksdb"}) {
    CAPTURE(backend);
    const std::vector<wanted_call> calls{count_rows, sum_v};
    operator_harness harness(node_of(calls, false), make_group_aggregate_operator, {}, backend);
    harness.clock().advance_ms(1'000'000);
    REQUIRE(harness.push(batch_of({{1, 5}, {2, 1}})));
    harness.take();

    REQUIRE(harness.restart_as(node_of(calls, false, true, 1000), backend,
                               state::snapshot_kind::canonical));
    REQUIRE(harness.push(batch_of({{1, 7}})));
    CHECK(changes_of(harness.take()) == lines{"-U[1, 1, 5]", "+U[1, 2, 12]"});
    CHECK(harness.state_rows() == 2);

    // Group 2 is forgotten, though no row of it comes.
    for (int i = 0; i < 4; ++i) {
      harness.clock().advance_ms(600);
      REQUIRE(harness.push(batch_of({{1, 1}})));
    }
    CHECK(harness.state_rows() == 1);
    harness.take();
    REQUIRE(harness.push(batch_of({{2, 3}})));
    CHECK(changes_of(harness.take()) == lines{"+I[2, 1, 3]"});

    // Kept for ever again, and then not: what was written meanwhile counts.
    REQUIRE(harness.restart_as(node_of(calls, false), backend, state::snapshot_kind::canonical));
    harness.clock().advance_ms(5000);
    REQUIRE(harness.push(batch_of({{2, 4}})));
    REQUIRE(harness.restart_as(node_of(calls, false, true, 1000), backend,
                               state::snapshot_kind::canonical));
    harness.take();
    REQUIRE(harness.push(batch_of({{2, 1}})));
    CHECK(changes_of(harness.take()) == lines{"-U[2, 2, 7]", "+U[2, 3, 8]"});
  }
}

TEST_CASE("a group's bytes are not read as those of other aggregates") {
  const wanted_call max_v{{"MAX", {1}}, logical_type::integer()};
  const wanted_call sum_d{{"SUM", {2}}, logical_type::decimal(38, 2)};
  const wanted_call distinct_v{{"COUNT", {1}, -1, true}, logical_type::bigint().not_null()};
  const wanted_call count_v{{"COUNT", {1}}, logical_type::bigint().not_null()};
  const struct {
    std::vector<wanted_call> before;
    std::vector<wanted_call> after;
    std::string difference; ///< empty: none
  } changes[] = {
      {{count_rows, sum_v}, {count_rows, sum_v}, ""},
      {{count_rows, sum_v},
       {sum_v, count_rows},
       "field 1 was `COUNT(*), SUM(v)`, is `SUM(v), COUNT(*)`"},
      {{sum_v}, {max_v}, "field 1 was `SUM(v)`, is `MAX(v)`"},
      {{sum_v}, {sum_d}, "field 1 was `SUM(v)`, is `SUM(d)`"},
      {{count_v}, {distinct_v}, "field 1 was `COUNT(v)`, is `COUNT(DISTINCT v)`"},
      {{sum_v}, {sum_v, count_rows}, "field 1 was `SUM(v)`, is `SUM(v), COUNT(*)`"},
  };
  for (const auto& each : changes)
    for (const auto* backend : {"hashmap", "rocksdb"})
      for (const auto kind : {state::snapshot_kind::canonical, state::snapshot_kind::native}) {
        CAPTURE(each.difference);
        CAPTURE(backend);
        operator_harness harness(node_of(each.before, false), make_group_aggregate_operator, {},
                                 backend);
        REQUIRE(harness.push(batch_of({{1, 5}, {2, 1}})));
        const auto opened = harness.restart_as(node_of(each.after, false), backend, kind);
        if (each.difference.empty()) {
          CHECK(opened);
          continue;
        }
        REQUIRE(!opened);
        CHECK(opened.error().code == errc::incompatible_state);
        CHECK(opened.error().message ==
              "state is incompatible with the restored one: `query`, value: " + each.difference +
                  "; go on with the query and its settings (as time to live, mini-batches) as they "
                  "were, or begin without the checkpoint");
      }
}

TEST_SUITE_END();

} // namespace headrace::task
