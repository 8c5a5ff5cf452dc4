#include "libtask/operator/aggregate/distinct_values.hpp"

#include "test/libstate/state_fixture.hpp"
#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"
#include "libtask/operator/aggregate/group_calls.hpp"
#include "libtask/operator/aggregate/group_values.hpp"
#include "libgraph/data/key_group.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <tuple>

namespace headrace::task {
namespace {

using namespace headrace::testing;
using graph::logical_type;
using graph::row_kind;

/// k, v (may be NULL), flag.
struct input_row {
  std::int64_t k = 0;
  std::optional<std::string> v = {};
  bool flag = true;
  row_kind kind = row_kind::insert;
};

graph::row_type_ptr input_type() {
  return std::make_shared<const logical_type>(
      logical_type::row({{"k", logical_type::bigint(), {}},
                         {"v", logical_type::string(), {}},
                         {"f", logical_type::boolean(), {}}}));
}

graph::record_batch batch_of(const std::vector<input_row>& rows) {
  graph::batch_builder out(input_type());
  for (const auto& row : rows) {
    out.column(0).append(row.k);
    if (row.v)
      out.column(1).append_string(*row.v);
    else
      out.column(1).append_null();
    out.column(2).append(static_cast<std::uint8_t>(row.flag));
    out.end_row(row.kind);
  }
  return out.finish();
}

graph::row_type_ptr key_type() {
  return std::make_shared<const logical_type>(
      logical_type::row({{"k", logical_type::bigint(), {}}}).not_null());
}

/// All values, and those of rows with the flag.
const std::vector<graph::group_aggregate_call> calls{{"COUNT", {1}, -1, true},
                                                     {"COUNT", {1}, 2, true}};

/// Groups with a word each: the number of their rows.
state::state_description groups() {
  auto out = sums("groups");
  out.layout = state::value_layout::fixed(8);
  return out;
}

/// Whether each row is counted, by call.
std::vector<std::vector<std::uint8_t>> counts_of(distinct_values& values,
                                                 const std::vector<input_row>& rows) {
  const auto in = batch_of(rows);
  std::vector<std::vector<std::uint8_t>> counts(2, std::vector<std::uint8_t>(rows.size(), 1));
  for (std::size_t i = 0; i < rows.size(); ++i)
    counts[1][i] = rows[i].flag ? 1 : 0;
  std::uint8_t* places[] = {counts[0].data(), counts[1].data()};
  check_ok(values.take(in, all_rows(rows.size()), places));
  return counts;
}

distinct_values opened(state::keyed_backend& backend, bool takes_nulls, bool retracts) {
  distinct_values out(1, logical_type::string(), takes_nulls, retracts);
  out.add_call(0);
  out.add_call(1);
  check_ok(out.open(backend, column_0));
  return out;
}

using flags = std::vector<std::vector<std::uint8_t>>;

} // namespace

TEST_SUITE("task/operator/aggregate/distinct_values") {

STATE_TEST_CASE(state_fixture, "a value counts once a group and call") {
  const auto backend = make(key_type());
  auto values = opened(*backend, false, false);

  CHECK(counts_of(values, {{1, "a", false}, {1, "a"}, {2, "a"}, {1, {}}, {1, "a"}}) ==
        flags{{1, 0, 1, 0, 0}, {0, 1, 1, 0, 0}});
  CHECK(counts_of(values, {{1, "a"}, {2, "b", false}}) == flags{{0, 1}, {0, 0}});
}

STATE_TEST_CASE(state_fixture, "a value that is taken back as often as it came is gone") {
  const auto backend = make(key_type());
  auto values = opened(*backend, true, true);
  const auto rows_of = [&] { return backend->row_count(); };

  CHECK(counts_of(values, {{1, {}}, {1, {}, false}, {1, "a"}}) == flags{{1, 0, 1}, {1, 0, 1}});
  CHECK(counts_of(values, {{1, {}, true, row_kind::delete_}}) == flags{{0}, {1}});
  CHECK(counts_of(values, {{1, {}, false, row_kind::delete_}, {1, "x", true, row_kind::delete_}}) ==
        flags{{1, 0}, {0, 0}});
  if (choice.backend == "hashmap")
    CHECK(rows_of() == 1);
  CHECK(counts_of(values, {{1, {}}}) == flags{{1}, {1}});
}

STATE_TEST_CASE(state_fixture, "values of each group move with its key group") {
  dice random(seed());
  std::set<std::tuple<std::int64_t, std::string, bool>> seen;
  std::vector<state::keyed_state_handle> handles;
  int stored = 0;
  for (const auto parallelism : {2, 3, 1}) {
    std::vector<input_row> rows;
    for (int i = 0; i < 500; ++i)
      rows.push_back({static_cast<std::int64_t>(random.below(40)),
                      std::string(random.below(30), 'x'), random.one_in(2)});
    state::key_batch keys(state::key_schema(key_type()), max_parallelism);
    keys.assign(batch_of(rows), column_0);
    const auto group_of = take(keys.key_groups());
    std::vector<state::keyed_state_handle> next;
    for (std::int32_t subtask = 0; subtask < parallelism; ++subtask) {
      const auto range = graph::key_groups_of(subtask, max_parallelism, parallelism);
      const auto backend = make(key_type(), range);
      check_ok(backend->restore(handles));
      auto values = opened(*backend, false, false);
      std::vector<input_row> own;
      for (std::size_t i = 0; i < rows.size(); ++i)
        if (range.contains(group_of[i]))
          own.push_back(rows[i]);
      const auto counts = counts_of(values, own);
      for (std::size_t i = 0; i < own.size(); ++i) {
        CHECK(counts[0][i] == (seen.emplace(own[i].k, *own[i].v, false).second ? 1 : 0));
        if (own[i].flag)
          CHECK(counts[1][i] == (seen.emplace(own[i].k, *own[i].v, true).second ? 1 : 0));
      }
      next.push_back(store(*backend, "s" + std::to_string(stored++)));
    }
    handles = next;
  }
}

STATE_TEST_CASE(state_fixture, "what releases before kept, a map a call, is taken over") {
  for (const bool retracts : {false, true}) {
    const auto backend = make(key_type());
    auto& table = *take(backend->open_table(groups()));
    state::key_batch keys(state::key_schema(key_type()), max_parallelism);
    keys.assign(batch_of({{1}, {2}}), column_0);
    state::located_rows at;
    check_ok(table.locate(keys, all_rows(2), 0, state::access::insert, at));
    check_ok(table.write_back(at));
    const auto put = [&](std::size_t key, const std::string& name, const std::string& value,
                         std::int64_t count) {
      backend->set_current_key(keys, key);
      backend->map(describe_bytes(name, graph::state_kind::map, 0))
          .put(value, {reinterpret_cast<const char*>(&count), sizeof(count)});
    };
    put(0, "0-COUNT-STRING-distinct", "a value that is long", 2);
    put(0, "1-COUNT-STRING-distinct", "a value that is long", 1);
    put(1, "0-COUNT-STRING-distinct", "b", 1);

    const auto output = logical_type::row({{"a", logical_type::bigint().not_null(), {}},
                                           {"b", logical_type::bigint().not_null(), {}}});
    group_calls opened_calls(calls, *input_type(), output, 0, retracts);
    check_ok(opened_calls.open(*backend, column_0, table, 0));

    CHECK(!backend->has_state("0-COUNT-STRING-distinct"));
    CHECK(!backend->has_state("1-COUNT-STRING-distinct"));
    auto values = opened(*backend, false, retracts);
    CHECK(counts_of(values, {{1, "a value that is long"}, {2, "b"}, {2, "c"}}) ==
          flags{{0, 0, 1}, {0, 1, 1}});
    if (retracts)
      CHECK(counts_of(values, {{2, "b", false, row_kind::delete_},
                               {2, "b", false, row_kind::delete_},
                               {1, "a value that is long", true, row_kind::delete_},
                               {1, "a value that is long", true, row_kind::delete_},
                               {1, "a value that is long", false, row_kind::delete_}}) ==
            flags{{0, 1, 0, 0, 1}, {0, 0, 0, 1, 0}});
  }
}

} // TEST_SUITE("task/operator/aggregate/distinct_values")

} // namespace headrace::task
