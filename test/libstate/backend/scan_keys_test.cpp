#include "test/libstate/state_fixture.hpp"
#include "test/support/batches.hpp"
#include "libgraph/function/failure.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace headrace::state {
namespace {

using namespace headrace::testing;

graph::state_descriptor described(std::string name, graph::state_kind kind,
                                  std::int64_t ttl_ms = 0) {
  graph::state_descriptor out;
  out.name = std::move(name);
  out.kind = kind;
  out.value_type = graph::logical_type::bytes();
  out.key_type = graph::logical_type::string();
  out.ttl_ms = ttl_ms;
  return out;
}

/// The keys of a state, each as often as it comes, and in how many pieces.
struct scanned {
  std::multiset<std::string> keys;
  int pieces = 0;
};
scanned scan(keyed_backend& backend, const graph::state_access& state, std::size_t rows_max) {
  scanned out;
  scan_cursor cursor;
  key_batch piece(backend.key(), backend.max_parallelism());
  while (!cursor.done) {
    check_ok(backend.scan_keys(state, cursor, rows_max, piece));
    CHECK(piece.size() <= rows_max);
    ++out.pieces;
    const auto keys = take(piece.to_batch());
    for (std::size_t row = 0; row < keys.size(); ++row)
      out.keys.emplace(keys.at(0).string_at(row));
  }
  return out;
}

struct scanning_fixture : state_fixture {
  using state_fixture::state_fixture;
  /// Calls `body(i)` with "word<i>" as the current key.
  template <class Body>
  void for_words(keyed_backend& backend, int count, Body body) {
    word_rows rows;
    for (int i = 0; i < count; ++i)
      rows.emplace_back("word" + std::to_string(i), i);
    key_batch keys(backend.key(), backend.max_parallelism());
    keys.assign(words(rows), column_0);
    for (int i = 0; i < count; ++i) {
      backend.set_current_key(keys, static_cast<std::size_t>(i));
      body(i);
    }
    backend.clear_current_key();
  }
  graph::row_type_ptr word_key() {
    return std::make_shared<const graph::logical_type>(
        graph::logical_type::row({word_type()->fields()[0]}));
  }
};

} // namespace

TEST_SUITE_BEGIN("state/backend/scan_keys");

STATE_TEST_CASE(scanning_fixture, "a scan gives each key of a state once, in pieces") {
  const auto backend = make(word_key());
  auto& value = backend->value(described("value", graph::state_kind::value));
  auto& list = backend->list(described("list", graph::state_kind::list));
  auto& map = backend->map(described("map", graph::state_kind::map));
  std::multiset<std::string> even;
  std::multiset<std::string> all;
  for_words(*backend, 50, [&](int i) {
    all.insert("word" + std::to_string(i));
    list.add("x");
    list.add("y");
    if (i % 2 == 1)
      return;
    even.insert("word" + std::to_string(i));
    value.put("v");
    for (const auto* entry : {"a", "b", "c"})
      map.put(entry, "e");
  });

  CHECK(scan(*backend, value, 7).keys == even);
  CHECK(scan(*backend, value, 7).pieces >= 4);
  CHECK(scan(*backend, list, 1000).keys == all);
  CHECK(scan(*backend, map, 7).keys == even);
}

STATE_TEST_CASE(scanning_fixture, "values that are cleared and set meanwhile do not come twice") {
  const auto backend = make(word_key());
  auto& value = backend->value(described("value", graph::state_kind::value));
  for_words(*backend, 50, [&](int) { value.put("v"); });

  std::multiset<std::string> seen;
  scan_cursor cursor;
  key_batch piece(backend->key(), backend->max_parallelism());
  while (!cursor.done) {
    check_ok(backend->scan_keys(value, cursor, 7, piece));
    const auto keys = take(piece.to_batch());
    for (std::size_t row = 0; row < piece.size(); ++row) {
      seen.emplace(keys.at(0).string_at(row));
      backend->set_current_key(piece, row);
      value.clear();
      if (seen.size() % 2 == 0)
        value.put("again");
    }
  }

  CHECK(seen.size() == 50);
  CHECK(std::set<std::string>(seen.begin(), seen.end()).size() == 50);
  CHECK(scan(*backend, value, 100).keys.size() == 25);
}

STATE_TEST_CASE(scanning_fixture, "an empty state has no keys") {
  const auto backend = make(word_key());
  auto& map = backend->map(described("map", graph::state_kind::map));

  CHECK(scan(*backend, map, 10).keys.empty());
}

STATE_TEST_CASE(scanning_fixture, "a state is refused where no key is current") {
  const auto backend = make(word_key());
  auto& value = backend->value(described("value", graph::state_kind::value));
  auto& list = backend->list(described("list", graph::state_kind::list));
  auto& map = backend->map(described("map", graph::state_kind::map));
  for_words(*backend, 1, [&](int) {
    value.put("v");
    list.add("x");
    map.put("a", "b");
  });

  CHECK_THROWS_AS(value.get(), graph::failure);
  CHECK_THROWS_AS(value.put("w"), graph::failure);
  CHECK_THROWS_AS(value.clear(), graph::failure);
  CHECK_THROWS_AS(list.size(), graph::failure);
  CHECK_THROWS_AS(list.add("z"), graph::failure);
  CHECK_THROWS_AS(list.clear(), graph::failure);
  CHECK_THROWS_AS(map.get("a"), graph::failure);
  CHECK_THROWS_AS(map.put("a", "c"), graph::failure);
  CHECK_THROWS_AS(map.is_empty(), graph::failure);
  for_words(*backend, 1, [&](int) {
    CHECK(value.get() == "v");
    CHECK(list.size() == 1);
    CHECK(map.get("a") == "b");
  });
}

TEST_SUITE_END();

} // namespace headrace::state
