#include "test/libstate/state_fixture.hpp"
#include "test/support/batches.hpp"
#include "test/support/seed.hpp"
#include "libgraph/function/failure.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <map>
#include <numeric>

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

std::vector<std::pair<std::string, std::string>> entries_of(graph::map_access& map) {
  std::vector<std::pair<std::string, std::string>> out;
  map.for_each(
      [](void* context, byte_view key, byte_view value) {
        static_cast<decltype(out)*>(context)->emplace_back(key, value);
        return true;
      },
      &out);
  return out;
}

std::vector<std::string> elements_of(graph::list_access& list) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < list.size(); ++i)
    out.emplace_back(list.at(i));
  return out;
}

/// Reads all keys 0 … count - 1 of sums, as far as they are there.
std::map<std::int64_t, std::int64_t> read_sums(keyed_backend& backend, std::int64_t count) {
  std::map<std::int64_t, std::int64_t> out;
  auto& table = *take(backend.open_table(sums()));
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  std::vector<std::uint32_t> rows(values.size());
  std::iota(rows.begin(), rows.end(), 0U);
  key_batch keys(backend.key(), backend.max_parallelism());
  keys.assign(numbers(values), column_0);
  located_rows at;
  check_ok(table.locate(keys, rows, 0, access::read, at));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (at.is_absent(i))
      continue;
    std::memcpy(&out[values[i]], at.values[i], 8);
  }
  return out;
}

/// Puts key → 10 * key for the keys of 0 … count - 1 that are of the backend's groups.
void write_sums(keyed_backend& backend, std::int64_t count) {
  auto& table = *take(backend.open_table(sums()));
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  key_batch keys(backend.key(), backend.max_parallelism());
  keys.assign(numbers(values), column_0);
  std::vector<std::uint16_t> groups;
  check_ok(keys.groups(groups));
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    if (backend.groups().contains(groups[i]))
      rows.push_back(i);
  }
  located_rows at;
  check_ok(table.locate(keys, rows, 0, access::insert, at));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto value = values[rows[i]] * 10;
    std::memcpy(at.values[i], &value, 8);
  }
  check_ok(table.write_back(at));
}

} // namespace

TEST_SUITE("state/backend/keyed_backend") {
STATE_TEST_CASE(state_fixture, "a value belongs to the current key") {
  const auto backend = make(number_type());
  auto& value = backend->value(described("v", graph::state_kind::value));
  key_batch keys(backend->key(), max_parallelism);
  keys.assign(numbers({1, 2}), column_0);

  backend->set_current_key(keys, 0);
  CHECK(!value.get());
  value.put("one");
  backend->set_current_key(keys, 1);
  CHECK(!value.get());
  value.put("a value too long to lie in its row");
  backend->set_current_key(keys, 0);
  CHECK(value.get() == "one");
  value.clear();
  CHECK(!value.get());
  value.put("");
  CHECK(value.get() == "");
  backend->set_current_key(keys, 1);
  CHECK(value.get() == "a value too long to lie in its row");
}

STATE_TEST_CASE(state_fixture, "a list keeps its elements in order") {
  const auto backend = make(number_type());
  auto& list = backend->list(described("l", graph::state_kind::list));
  key_batch keys(backend->key(), max_parallelism);
  keys.assign(numbers({1, 2}), column_0);

  backend->set_current_key(keys, 0);
  list.add("a");
  CHECK(list.size() == 1);
  list.add("");
  list.add(std::string(300, 'c'));
  backend->set_current_key(keys, 1);
  CHECK(list.size() == 0);
  backend->set_current_key(keys, 0);
  CHECK(elements_of(list) == std::vector<std::string>{"a", "", std::string(300, 'c')});
  list.clear();
  CHECK(list.size() == 0);
}

STATE_TEST_CASE(state_fixture, "a map is ordered by encoded key, and empty once cleared") {
  const auto backend = make(number_type());
  auto& map = backend->map(described("m", graph::state_kind::map));
  key_batch keys(backend->key(), max_parallelism);
  keys.assign(numbers({1, 2}), column_0);

  backend->set_current_key(keys, 0);
  CHECK(map.is_empty());
  map.put("b", "2");
  map.put("a", "1");
  map.put("b", "3");
  map.put("c", "4");
  map.remove("c");
  map.remove("never");
  backend->set_current_key(keys, 1);
  CHECK(map.is_empty());
  map.put("a", "other");
  backend->set_current_key(keys, 0);
  CHECK(entries_of(map) == decltype(entries_of(map)){{"a", "1"}, {"b", "3"}});
  CHECK(map.get("a") == "1");
  CHECK(!map.get("c"));
  map.clear();
  CHECK(map.is_empty());
  backend->set_current_key(keys, 1);
  CHECK(map.get("a") == "other");
}

STATE_TEST_CASE(state_fixture, "handles of one map see what others have put and removed") {
  const auto backend = make(number_type());
  auto& one = backend->map(described("m", graph::state_kind::map));
  auto& other = backend->map(described("m", graph::state_kind::map));
  key_batch keys(backend->key(), max_parallelism);
  keys.assign(numbers({1, 2}), column_0);

  backend->set_current_key(keys, 0);
  one.put("a", "1");
  CHECK(one.get("a") == "1");
  other.put("a", "2");
  CHECK(one.get("a") == "2");
  other.remove("a");
  CHECK(!one.get("a"));
  other.put("b", "3"); // may lie where `a` was
  CHECK(!one.get("a"));
  one.put("a", "4");
  CHECK(other.get("a") == "4");
  CHECK(one.get("b") == "3");
  other.clear();
  CHECK(!one.get("b"));
  backend->set_current_key(keys, 1);
  one.put("b", "5");
  CHECK(one.get("b") == "5");
  backend->set_current_key(keys, 0);
  CHECK(!one.get("b"));
}

STATE_TEST_CASE(state_fixture, "user states agree with maps and come back from a snapshot") {
  const auto random = make_seeded_random(seed());
  const auto key_type = nullable_key_type();
  auto backend = make(key_type);
  std::map<std::optional<std::int64_t>, std::string> values;
  std::map<std::optional<std::int64_t>, std::vector<std::string>> lists;
  std::map<std::optional<std::int64_t>, std::map<std::string, std::string>> maps;
  std::vector<std::optional<std::int64_t>> all(50);
  for (std::int64_t i = 1; i < 50; ++i)
    all[static_cast<std::size_t>(i)] = i * 1000;
  key_batch keys(backend->key(), max_parallelism);
  keys.assign(nullable_keys(all), column_0);
  const auto check_all = [&](keyed_backend& of) {
    auto& value = of.value(described("v", graph::state_kind::value));
    auto& list = of.list(described("l", graph::state_kind::list));
    auto& map = of.map(described("m", graph::state_kind::map));
    for (std::size_t i = 0; i < all.size(); ++i) {
      of.set_current_key(keys, i);
      CHECK(value.get().has_value() == values.contains(all[i]));
      if (values.contains(all[i]))
        CHECK(value.get() == byte_view(values[all[i]]));
      CHECK(elements_of(list) == lists[all[i]]);
      const auto& wanted = maps[all[i]];
      CHECK(entries_of(map) ==
            std::vector<std::pair<std::string, std::string>>(wanted.begin(), wanted.end()));
    }
  };
  for (int round = 0; round < 4; ++round) {
    auto& value = backend->value(described("v", graph::state_kind::value));
    auto& list = backend->list(described("l", graph::state_kind::list));
    auto& map = backend->map(described("m", graph::state_kind::map));
    std::unique_ptr<snapshot_job> running;
    for (int step = 0; step < 2000; ++step) {
      if (step % 300 == 100)
        running = snapshot(*backend, step);
      const auto i = random->below(all.size());
      const auto key = all[i];
      backend->set_current_key(keys, i);
      const std::string text(random->below(40), static_cast<char>('a' + random->below(26)));
      const auto entry = "k" + std::to_string(random->below(20));
      switch (random->below(8)) {
      case 0:
        value.put(values[key] = text);
        break;
      case 1:
        value.clear();
        values.erase(key);
        break;
      case 2:
      case 3:
        list.add(lists[key].emplace_back(text));
        break;
      case 4:
        if (random->below(4) == 0) {
          list.clear();
          lists[key].clear();
        }
        break;
      case 5:
      case 6:
        map.put(entry, maps[key][entry] = text);
        break;
      default:
        if (random->below(6) == 0) {
          map.clear();
          maps[key].clear();
        } else {
          map.remove(entry);
          maps[key].erase(entry);
        }
      }
    }
    check_all(*backend);
    const auto handle = store(*backend, "round" + std::to_string(round));
    auto next = make(key_type);
    check_ok(next->restore({handle}));
    if (choice.backend == "hashmap")
      CHECK(next->row_count() == backend->row_count());
    backend = std::move(next);
    check_all(*backend);
  }
}

STATE_TEST_CASE(state_fixture, "what has expired is neither returned nor stored") {
  const auto backend = make(number_type());
  auto& value = backend->value(described("v", graph::state_kind::value, 1000));
  auto& list = backend->list(described("l", graph::state_kind::list, 1000));
  auto& map = backend->map(described("m", graph::state_kind::map, 1000));
  key_batch keys(backend->key(), max_parallelism);
  keys.assign(numbers({1}), column_0);
  backend->set_current_key(keys, 0);
  value.put("v");
  list.add("old");
  map.put("old", "1");
  time.advance_ms(600);
  list.add("new");
  map.put("new", "2");

  time.advance_ms(600);
  const auto handle = store(*backend, "s");

  const auto other = make(number_type());
  check_ok(other->restore({handle}));
  if (choice.kind == snapshot_kind::canonical)
    CHECK(other->row_count() == 2);
  for (auto* of : {backend.get(), other.get()}) {
    of->set_current_key(keys, 0);
    CHECK(!of->value(described("v", graph::state_kind::value, 1000)).get());
    CHECK(elements_of(of->list(described("l", graph::state_kind::list, 1000))) ==
          std::vector<std::string>{"new"});
    auto& entries = of->map(described("m", graph::state_kind::map, 1000));
    CHECK(!entries.get("old"));
    CHECK(entries_of(entries) == decltype(entries_of(entries)){{"new", "2"}});
  }
  time.advance_ms(600);
  CHECK(list.size() == 0);
  CHECK(map.is_empty());
}

STATE_TEST_CASE(state_fixture, "a state may be restored with another TTL") {
  const auto backend = make(number_type());
  key_batch keys(backend->key(), max_parallelism);
  keys.assign(numbers({1}), column_0);
  backend->set_current_key(keys, 0);
  backend->value(described("v", graph::state_kind::value)).put("v");
  backend->list(described("l", graph::state_kind::list)).add("e");
  backend->map(described("m", graph::state_kind::map)).put("k", "w");
  const auto handle = store(*backend, "s");

  const auto aging = make(number_type());
  check_ok(aging->restore({handle}));
  time.advance_ms(100'000);
  auto& value = aging->value(described("v", graph::state_kind::value, 1000));
  auto& list = aging->list(described("l", graph::state_kind::list, 1000));
  auto& map = aging->map(described("m", graph::state_kind::map, 1000));
  aging->set_current_key(keys, 0);
  CHECK(value.get() == "v");
  CHECK(elements_of(list) == std::vector<std::string>{"e"});
  CHECK(map.get("k") == "w");
  const auto with_stamps = store(*aging, "t");
  time.advance_ms(1000);
  CHECK(!value.get());
  CHECK(list.size() == 0);
  CHECK(!map.get("k"));

  const auto ageless = make(number_type());
  check_ok(ageless->restore({with_stamps}));
  ageless->set_current_key(keys, 0);
  CHECK(ageless->value(described("v", graph::state_kind::value)).get() == "v");
  CHECK(elements_of(ageless->list(described("l", graph::state_kind::list))) ==
        std::vector<std::string>{"e"});
  CHECK(ageless->map(described("m", graph::state_kind::map)).get("k") == "w");
}

STATE_TEST_CASE(state_fixture, "another kind or type of a restored state is refused by name") {
  const auto backend = make(number_type());
  auto wanted = sums("totals");
  wanted.value_type = graph::logical_type::row(
      {{"count", graph::logical_type::bigint(), ""}, {"sum", graph::logical_type::bigint(), ""}});
  wanted.layout = value_layout::fixed(16);
  take(backend->open_table(wanted));
  const auto handle = store(*backend, "s");
  const auto other = make(number_type());
  check_ok(other->restore({handle}));

  CHECK(other->open_table(wanted).has_value());
  auto changed = wanted;
  changed.value_type = graph::logical_type::row(
      {{"count", graph::logical_type::bigint(), ""}, {"sum", graph::logical_type::float64(), ""}});
  const auto refused = other->open_table(changed);
  REQUIRE(!refused.has_value());
  CHECK(refused.error().code == errc::incompatible_state);
  CHECK(refused.error().message.starts_with(
      "state is incompatible with the restored one: `totals`, value.sum: was BIGINT, is DOUBLE; go "
      "on with the query"));
  changed = wanted;
  changed.layout = value_layout::variable();
  CHECK(other->open_table(changed).error().message.starts_with(
      "state is incompatible with the restored one: `totals`, layout: was 16 bytes, is "
      "variable; "));
  CHECK_THROWS_AS(other->value(described("totals", graph::state_kind::value)), graph::failure);
  const auto rekeyed = make(word_type());
  CHECK(rekeyed->restore({handle}).error().code == errc::incompatible_state);
}

STATE_TEST_CASE(state_fixture, "values of another type are rewritten when that loses nothing") {
  const auto of_type = [](auto kind, const graph::logical_type& type, std::int64_t ttl_ms = 0) {
    auto out = described("s" + std::to_string(static_cast<int>(kind)), kind, ttl_ms);
    out.value_type = type.not_null();
    return out;
  };
  const auto old_row =
      graph::logical_type::row({{"a", graph::logical_type::integer().not_null(), ""},
                                {"b", graph::logical_type::string(), ""}});
  const auto new_row =
      graph::logical_type::row({{"c", graph::logical_type::bigint().not_null(), ""},
                                {"a", graph::logical_type::bigint().not_null(), ""}});
  const auto encoded = [](auto... values) {
    byte_string out;
    byte_writer to(out);
    (to.put(values), ...);
    return out;
  };
  using kind = graph::state_kind;
  const auto backend = make(number_type());
  key_batch keys(backend->key(), max_parallelism);
  keys.assign(numbers({1}), column_0);
  backend->set_current_key(keys, 0);
  const auto old_value = encoded(std::int32_t{-5}, std::uint8_t{0});
  backend->value(of_type(kind::value, old_row)).put(old_value);
  backend->list(of_type(kind::list, old_row)).add(old_value);
  backend->map(of_type(kind::map, old_row)).put("k", old_value);
  backend->value(of_type(kind::reducing, graph::logical_type::float32())).put(encoded(1.5F));
  const auto handle = store(*backend, "s");

  const auto later = make(number_type());
  check_ok(later->restore({handle}));
  later->set_current_key(keys, 0);
  auto with_default = of_type(kind::value, new_row);
  with_default.default_value = encoded(std::int64_t{7}, std::int64_t{0});
  CHECK(later->value(with_default).get() == encoded(std::int64_t{7}, std::int64_t{-5}));
  const auto new_value = encoded(std::int64_t{0}, std::int64_t{-5});
  auto& list = later->list(of_type(kind::list, new_row, 1000));
  CHECK(elements_of(list) == std::vector<std::string>{new_value});
  CHECK(later->map(of_type(kind::map, new_row)).get("k") == new_value);
  CHECK(later->value(of_type(kind::reducing, graph::logical_type::float64())).get() ==
        encoded(1.5));
  time.advance_ms(1000);
  CHECK(list.size() == 0);

  const auto again = make(number_type());
  check_ok(again->restore({store(*later, "t")}));
  again->set_current_key(keys, 0);
  CHECK(again->map(of_type(kind::map, new_row)).get("k") == new_value); // as it is
  CHECK_THROWS_AS(again->map(of_type(kind::map, old_row)), graph::failure);
}

STATE_TEST_CASE(state_fixture, "a restored value that is none of its type is refused by name") {
  const auto backend = make(number_type());
  key_batch keys(backend->key(), max_parallelism);
  keys.assign(numbers({1}), column_0);
  backend->set_current_key(keys, 0);
  auto narrow = described("v", graph::state_kind::value);
  narrow.value_type = graph::logical_type::integer().not_null();
  backend->value(narrow).put("abc");
  const auto handle = store(*backend, "s");
  const auto later = make(number_type());
  check_ok(later->restore({handle}));
  narrow.value_type = graph::logical_type::bigint().not_null();

  try {
    later->value(narrow);
    FAIL("it was taken");
  } catch (const graph::failure& failed) {
    CHECK(failed.cause().code == errc::corrupt_snapshot);
    CHECK(failed.cause().message.find("`v`") != std::string::npos);
  }
}

STATE_TEST_CASE(state_fixture, "a state that is opened twice has one type and one TTL") {
  const auto backend = make(number_type());
  auto wanted = described("v", graph::state_kind::value);
  wanted.value_type = graph::logical_type::integer().not_null();
  auto& value = backend->value(wanted);
  CHECK(&backend->value(wanted) == &value);

  auto wider = wanted;
  wider.value_type = graph::logical_type::bigint().not_null();
  auto aging = wanted;
  aging.ttl_ms = 1000;
  for (const auto& other : {wider, aging}) {
    try {
      backend->value(other);
      FAIL("it was taken");
    } catch (const graph::failure& failed) {
      CHECK(failed.cause().code == errc::incompatible_state);
      CHECK(failed.cause().message.find("`v`") != std::string::npos);
    }
  }
}

STATE_TEST_CASE(state_fixture, "a restored state that is not declared is refused or dropped") {
  const auto backend = make(number_type());
  backend->value(described("n", graph::state_kind::value));
  backend->value(described("kept", graph::state_kind::value));
  const auto handle = store(*backend, "s");
  const auto renamed = make(number_type());
  check_ok(renamed->restore({handle}));
  renamed->value(described("m", graph::state_kind::value));
  renamed->value(described("kept", graph::state_kind::value));

  const auto refused = renamed->settle_restored(false);
  REQUIRE(!refused);
  CHECK(refused.error().code == errc::incompatible_state);
  CHECK(refused.error().message.find("`n`") != std::string::npos);
  check_ok(renamed->settle_restored(true));
  check_ok(renamed->settle_restored(false));
}

STATE_TEST_CASE(state_fixture, "state moves to another number of subtasks and back") {
  constexpr std::int64_t keys = 3000;
  std::map<std::int64_t, std::int64_t> wanted;
  for (std::int64_t key = 0; key < keys; ++key)
    wanted[key] = key * 10;
  std::vector<keyed_state_handle> handles;
  const auto run_with = [&](std::int32_t parallelism) {
    std::map<std::int64_t, std::int64_t> all;
    std::vector<keyed_state_handle> next;
    for (std::int32_t subtask = 0; subtask < parallelism; ++subtask) {
      const auto backend =
          make(number_type(), graph::key_groups_of(subtask, max_parallelism, parallelism));
      check_ok(backend->restore(handles));
      if (handles.empty())
        write_sums(*backend, keys);
      const auto part = read_sums(*backend, keys);
      for (const auto& [key, value] : part)
        CHECK(all.emplace(key, value).second);
      next.push_back(store(*backend, std::to_string(parallelism) + "-" + std::to_string(subtask)));
    }
    CHECK(all == wanted);
    handles = next;
  };
  // A database a subtask takes its time.
  const auto parallelisms = choice.backend == "hashmap" ? std::vector{2, 3, 2, 1, 128, 5, 1}
                                                        : std::vector{2, 3, 2, 128, 1};
  for (const auto parallelism : parallelisms)
    run_with(parallelism);
}

STATE_TEST_CASE(state_fixture, "a snapshot outlives its backend") {
  auto backend = make(number_type());
  write_sums(*backend, 1000);
  auto job = snapshot(*backend);
  backend.reset();

  const auto handle = store(*job, "s");

  const auto other = make(number_type());
  check_ok(other->restore({handle}));
  CHECK(read_sums(*other, 1000).size() == 1000);
}

STATE_TEST_CASE(state_fixture, "a canceled snapshot ends with an error and leaves no file") {
  const auto backend = make(number_type());
  write_sums(*backend, 1000);
  const auto job = snapshot(*backend);
  job->cancel();
  {
    testing_target target(files, "s");
    const auto handle = job->run(target);
    REQUIRE(!handle.has_value());
    CHECK(handle.error().code == errc::checkpoint_expired);
  }
  CHECK(files.paths().empty());
}
} // TEST_SUITE("state/backend/keyed_backend")

} // namespace headrace::state
