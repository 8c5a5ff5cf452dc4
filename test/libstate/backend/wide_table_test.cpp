#include "libstate/backend/wide_table.hpp"

#include "test/libstate/state_fixture.hpp"
#include "test/support/batches.hpp"
#include "test/support/seed.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <map>

namespace headrace::state {
namespace {

using namespace headrace::testing;

constexpr std::size_t wide = 2 * value_layout::fixed_bytes_max + 40;
/// Some places of a value, of each part and on both sides of their borders.
constexpr std::size_t places[] = {0, 1016, 1024, 1032, 2040, 2048, 2080};

state_description wide_groups() {
  auto out = sums("groups");
  out.layout = value_layout::fixed(wide);
  return out;
}

/// By space and key: how often a row was counted.
using count_model = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

/// All places of a value have the same number.
std::int64_t count_of(const std::byte* value) {
  std::int64_t out = 0;
  std::memcpy(&out, value, sizeof(out));
  for (const auto place : places)
    CHECK(std::memcmp(value + place, &out, sizeof(out)) == 0);
  return out;
}
void set_count(std::byte* value, std::int64_t count) {
  for (const auto place : places)
    std::memcpy(value + place, &count, sizeof(count));
}

count_model contents_of(keyed_table& table) {
  count_model out;
  auto piece = table.make_piece();
  for (const auto space : table.namespaces())
    for (scan_cursor cursor; !cursor.done;) {
      check_ok(table.scan(space, cursor, 7, piece));
      const auto keys = numbers_of(take(piece.keys.to_batch()));
      for (std::size_t i = 0; i < piece.size(); ++i)
        CHECK(out.emplace(std::pair(space, keys[i]), count_of(piece.fixed[i])).second);
    }
  return out;
}

} // namespace

TEST_SUITE("state/backend/wide_table") {

STATE_TEST_CASE(state_fixture,
                "values of some kilobytes are found, changed, removed and restored") {
  const auto random = make_seeded_random(testing::seed());
  auto backend = make(number_type());
  std::unique_ptr<keyed_table> keeper;
  auto* table = take(open_wide_table(*backend, wide_groups(), keeper));
  REQUIRE(keeper != nullptr);
  key_batch keys(backend->key(), max_parallelism);
  count_model model;
  for (int round = 0; round < 60; ++round) {
    std::vector<std::int64_t> batch;
    std::vector<state_namespace> spaces;
    for (auto count = random->below(20) + 1; count > 0; --count) {
      batch.push_back(static_cast<std::int64_t>(random->below(30)));
      spaces.push_back(static_cast<std::int64_t>(random->below(3)));
    }
    located_rows at;
    keys.assign(numbers(batch), column_0);
    check_ok(table->locate(keys, all_rows(batch.size()), spaces, access::insert, at));
    std::vector<std::uint32_t> removed;
    for (std::uint32_t i = 0; i < batch.size(); ++i) {
      const auto [found, is_new] = model.emplace(std::pair(spaces[i], batch[i]), 0);
      CHECK(at.fresh[i] == (is_new ? 1 : 0));
      CHECK(count_of(at.values[i]) == found->second);
      set_count(at.values[i], ++found->second);
    }
    for (std::uint32_t i = 0; i < batch.size(); ++i)
      if (batch[i] % 7 == 3 && random->below(2) == 0)
        removed.push_back(i);
    check_ok(table->erase(at, removed));
    check_ok(table->write_back(at));
    for (const auto index : removed)
      model.erase({spaces[index], batch[index]});
    if (round % 20 == 7) {
      check_ok(table->drop_namespace(1));
      std::erase_if(model, [](const auto& each) { return each.first.first == 1; });
    }
    if (round % 20 == 11) {
      const auto handle = store(*backend, "snapshot-" + std::to_string(round));
      auto restored = make(number_type());
      check_ok(restored->restore({handle}));
      backend = std::move(restored);
      table = take(open_wide_table(*backend, wide_groups(), keeper));
    }
    REQUIRE(contents_of(*table) == model);
    CHECK(table->row_count() == model.size());
  }
}

STATE_TEST_CASE(state_fixture, "a narrow table is the backend's own") {
  const auto backend = make(number_type());
  std::unique_ptr<keyed_table> keeper;
  CHECK(take(open_wide_table(*backend, sums(), keeper)) == take(backend->open_table(sums())));
  CHECK(keeper == nullptr);
}

} // TEST_SUITE("state/backend/wide_table")

} // namespace headrace::state
