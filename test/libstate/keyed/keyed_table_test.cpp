#include "test/libstate/state_fixture.hpp"
#include "test/support/batches.hpp"
#include "test/support/seed.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <map>
#include <numeric>
#include <set>

namespace headrace::state {
namespace {

using namespace headrace::testing;

std::int64_t load(const std::byte* at) {
  std::int64_t out = 0;
  std::memcpy(&out, at, sizeof(out));
  return out;
}
void store_value(std::byte* at, std::int64_t value) { std::memcpy(at, &value, sizeof(value)); }

using sum_model = std::map<std::pair<std::int64_t, std::optional<std::int64_t>>, std::int64_t>;

sum_model contents_of_sums(keyed_table& table) {
  sum_model out;
  auto piece = table.make_piece();
  for (const auto space : table.namespaces()) {
    for (scan_cursor cursor; !cursor.done;) {
      check_ok(table.scan(space, cursor, 7, piece));
      const auto keys = take(piece.keys.to_batch());
      for (std::size_t i = 0; i < piece.size(); ++i) {
        std::optional<std::int64_t> key;
        if (!keys.at(0).is_null(i))
          key = keys.at(0).values<std::int64_t>()[i];
        CHECK(out.emplace(std::pair(space, key), load(piece.fixed[i])).second);
      }
    }
  }
  return out;
}

/// Adds `amount` to the sums of some keys, in the backend and in the model.
void add_sums(keyed_table& table, key_batch& keys, sum_model& model,
              const std::vector<std::optional<std::int64_t>>& batch,
              const std::vector<std::int64_t>& spaces, std::int64_t amount) {
  located_rows at;
  const auto rows = all_rows(batch.size());
  const auto input = nullable_keys(batch);
  keys.assign(input, column_0);
  check_ok(table.locate(keys, rows, spaces, access::insert, at));
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto [found, is_new] = model.emplace(std::pair(spaces[i], batch[i]), 0);
    REQUIRE(at.fresh[i] == (is_new ? 1 : 0));
    REQUIRE(load(at.values[i]) == found->second);
    found->second += amount;
    store_value(at.values[i], found->second);
  }
  check_ok(table.write_back(at));
}

} // namespace

TEST_SUITE("state/keyed/keyed_table") {
STATE_TEST_CASE(state_fixture, "a batch finds what earlier batches inserted") {
  const auto backend = make(number_type());
  auto& table = *take(backend->open_table(sums()));
  key_batch keys(backend->key(), max_parallelism);
  located_rows at;

  keys.assign(numbers({5, 7, 5}), column_0);
  check_ok(table.locate(keys, all_rows(3), 0, access::insert, at));
  CHECK(at.fresh == std::vector<std::uint8_t>{1, 1, 0});
  CHECK(at.values[0] == at.values[2]);
  store_value(at.values[0], 50);
  store_value(at.values[1], 70);
  check_ok(table.write_back(at));

  keys.assign(numbers({7, 6, 5}), column_0);
  check_ok(table.locate(keys, all_rows(3), 0, access::read, at));
  CHECK(load(at.values[0]) == 70);
  CHECK(at.values[1] == nullptr);
  CHECK(at.is_absent(1));
  CHECK(load(at.values[2]) == 50);
  CHECK(table.row_count() == 2);
}

STATE_TEST_CASE(state_fixture, "only the rows asked for are touched, by column row") {
  const auto backend = make(number_type());
  auto& table = *take(backend->open_table(sums()));
  key_batch keys(backend->key(), max_parallelism);
  const auto batch = numbers({10, 11, 12, 13, 14});
  const auto indices = graph::buffer::allocate(2 * sizeof(std::uint32_t));
  indices->mutable_as<std::uint32_t>()[0] = 1;
  indices->mutable_as<std::uint32_t>()[1] = 4;
  const auto selected = batch.with_selection(indices, 2);

  located_rows at;
  keys.assign(selected, column_0);
  check_ok(table.locate(keys, selected.selection(), 3, access::insert, at));
  check_ok(table.write_back(at));

  CHECK(at.size() == 2);
  auto piece = table.make_piece();
  scan_cursor cursor;
  check_ok(table.scan(3, cursor, 100, piece));
  CHECK(numbers_of(take(piece.keys.to_batch())) == std::vector<std::int64_t>{11, 14});
}

STATE_TEST_CASE(state_fixture, "one row may lie in several namespaces") {
  const auto backend = make(number_type());
  auto& table = *take(backend->open_table(sums()));
  key_batch keys(backend->key(), max_parallelism);
  keys.assign(numbers({1, 2}), column_0);
  located_rows at;

  check_ok(table.locate(keys, std::vector<std::uint32_t>{0, 0, 1},
                        std::vector<std::int64_t>{100, 200, 100}, access::insert, at));

  check_ok(table.write_back(at));
  CHECK(at.fresh == std::vector<std::uint8_t>{1, 1, 1});
  CHECK(at.values[0] != at.values[1]);
  CHECK(table.namespaces() == std::vector<std::int64_t>{100, 200});
  CHECK(table.first_namespace() == 100);
  CHECK(table.row_count(100) == 2);
  check_ok(table.drop_namespace(100));
  check_ok(table.drop_namespace(100));
  CHECK(table.first_namespace() == 200);
  check_ok(table.locate(keys, std::vector<std::uint32_t>{0}, 100, access::update, at));
  CHECK(at.is_absent(0));
}

STATE_TEST_CASE(state_fixture, "an erased row is gone, and made anew of zeros") {
  const auto backend = make(number_type());
  auto& table = *take(backend->open_table(sums()));
  key_batch keys(backend->key(), max_parallelism);
  keys.assign(numbers({1, 1, 2}), column_0);
  located_rows at;
  check_ok(table.locate(keys, all_rows(3), 0, access::insert, at));
  store_value(at.values[0], 9);

  check_ok(table.erase(at, std::vector<std::uint32_t>{0, 1}));
  check_ok(table.write_back(at));

  CHECK(table.row_count() == 1);
  check_ok(table.locate(keys, all_rows(3), 0, access::insert, at));
  CHECK(at.fresh == std::vector<std::uint8_t>{1, 0, 0});
  CHECK(load(at.values[0]) == 0);
}

STATE_TEST_CASE(state_fixture, "addresses stay within a batch that fills many pages") {
  const auto backend = make(number_type());
  auto& table = *take(backend->open_table(sums()));
  key_batch keys(backend->key(), max_parallelism);
  std::vector<std::int64_t> values(20'000);
  std::iota(values.begin(), values.end(), 0);
  keys.assign(numbers(values), column_0);
  located_rows at;

  check_ok(table.locate(keys, all_rows(values.size()), 0, access::insert, at));
  for (std::size_t i = 0; i < values.size(); ++i)
    store_value(at.values[i], values[i] * 3);
  check_ok(table.write_back(at));

  check_ok(table.locate(keys, all_rows(values.size()), 0, access::read, at));
  for (std::size_t i = 0; i < values.size(); ++i)
    REQUIRE(load(at.values[i]) == values[i] * 3);
}

STATE_TEST_CASE(state_fixture, "sums agree with a map, with snapshots taken meanwhile") {
  const auto random = make_seeded_random(seed());
  const auto backend = make(nullable_key_type());
  auto& table = *take(backend->open_table(sums()));
  key_batch keys(backend->key(), max_parallelism);
  sum_model model;
  struct pending {
    std::unique_ptr<snapshot_job> job;
    sum_model then;
  };
  std::vector<pending> snapshots;
  int stored = 0;
  const auto check_one = [&](std::size_t index) {
    const auto handle = store(*snapshots[index].job, "s" + std::to_string(stored++));
    const auto other = make(nullable_key_type());
    check_ok(other->restore({handle}));
    CHECK(contents_of_sums(*take(other->open_table(sums()))) == snapshots[index].then);
    snapshots.erase(snapshots.begin() + static_cast<std::ptrdiff_t>(index));
  };
  for (int step = 0; step < 400; ++step) {
    const auto action = random->below(20);
    const std::uint64_t key_range = step < 200 ? 300 : 20'000;
    std::vector<std::optional<std::int64_t>> batch(1 + random->below(step % 10 == 0 ? 3000 : 60));
    std::vector<std::int64_t> spaces(batch.size());
    const auto space_range = 1 + random->below(6);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto key = random->below(key_range);
      if (key != 0)
        batch[i] = static_cast<std::int64_t>(key) - 100;
      spaces[i] = static_cast<std::int64_t>(random->below(space_range)) - 2;
    }
    if (action < 12) {
      add_sums(table, keys, model, batch, spaces, static_cast<std::int64_t>(step));
    } else if (action < 15) {
      located_rows at;
      keys.assign(nullable_keys(batch), column_0);
      check_ok(table.locate(keys, all_rows(batch.size()), spaces, access::update, at));
      for (std::size_t i = 0; i < batch.size(); ++i)
        REQUIRE(at.is_absent(i) == !model.contains({spaces[i], batch[i]}));
      check_ok(table.erase(at, all_rows(batch.size())));
      for (std::size_t i = 0; i < batch.size(); ++i)
        model.erase({spaces[i], batch[i]});
    } else if (action == 15) {
      check_ok(table.drop_namespace(spaces[0]));
      std::erase_if(model, [&](const auto& one) { return one.first.first == spaces[0]; });
    } else if (action < 18) {
      snapshots.push_back({snapshot(*backend, step), model});
    } else if (!snapshots.empty()) {
      check_one(random->below(snapshots.size()));
    }
    REQUIRE(table.row_count() == model.size());
  }
  CHECK(contents_of_sums(table) == model);
  while (!snapshots.empty())
    check_one(0);
}

STATE_TEST_CASE(state_fixture, "texts agree with a map, with snapshots taken meanwhile") {
  const auto random = make_seeded_random(seed() + 1);
  const auto key_type = std::make_shared<const graph::logical_type>(
      graph::logical_type::row({{"word", graph::logical_type::string().not_null(), ""}}));
  const auto backend = make(key_type);
  auto& table = *take(backend->open_table(texts()));
  key_batch keys(backend->key(), max_parallelism);
  using text_model = std::map<std::pair<std::int64_t, std::string>, std::string>;
  text_model model;
  const auto contents = [](keyed_table& from) {
    text_model out;
    auto piece = from.make_piece();
    for (const auto space : from.namespaces()) {
      for (scan_cursor cursor; !cursor.done;) {
        check_ok(from.scan(space, cursor, 50, piece));
        const auto scanned = take(piece.keys.to_batch());
        for (std::size_t i = 0; i < piece.size(); ++i)
          CHECK(out.emplace(std::pair(space, std::string(scanned.at(0).string_at(i))),
                            std::string(piece.variable[i]))
                    .second);
      }
    }
    return out;
  };
  std::vector<std::pair<std::unique_ptr<snapshot_job>, text_model>> snapshots;
  int stored = 0;
  const auto check_oldest = [&] {
    const auto handle = store(*snapshots.front().first, "t" + std::to_string(stored++));
    const auto other = make(key_type);
    check_ok(other->restore({handle}));
    CHECK(contents(*take(other->open_table(texts()))) == snapshots.front().second);
    snapshots.erase(snapshots.begin());
  };
  for (int step = 0; step < 600; ++step) {
    word_rows batch(1 + random->below(40));
    for (auto& [word, n] : batch)
      word = std::string(random->below(30), 'k') + std::to_string(random->below(40));
    const auto space = static_cast<std::int64_t>(random->below(3));
    keys.assign(words(batch), column_0);
    located_rows at;
    const auto action = random->below(10);
    if (action < 6) {
      check_ok(table.locate(keys, all_rows(batch.size()), space, access::insert, at));
      for (std::size_t i = 0; i < batch.size(); ++i) {
        auto& value = model[{space, batch[i].first}];
        REQUIRE(table.get(at, i) == byte_view(value));
        const auto size = random->below(random->below(30) == 0 ? 20'000 : 60);
        const std::string text(size, static_cast<char>('a' + random->below(26)));
        if (action < 3) {
          value = text;
          check_ok(table.put(at, i, text));
        } else {
          value += text;
          check_ok(table.append(at, i, text));
        }
        REQUIRE(table.get(at, i) == byte_view(value));
      }
      check_ok(table.write_back(at));
    } else if (action == 6) {
      check_ok(table.locate(keys, all_rows(batch.size()), space, access::update, at));
      check_ok(table.erase(at, all_rows(batch.size())));
      for (const auto& [word, n] : batch)
        model.erase({space, word});
    } else if (action == 7 && random->below(4) == 0) {
      check_ok(table.drop_namespace(space));
      std::erase_if(model, [&](const auto& one) { return one.first.first == space; });
    } else if (action == 8) {
      snapshots.emplace_back(snapshot(*backend, step), model);
    } else if (!snapshots.empty()) {
      check_oldest();
    }
  }
  CHECK(contents(table) == model);
  while (!snapshots.empty())
    check_oldest();
}
} // TEST_SUITE("state/keyed/keyed_table")

} // namespace headrace::state
