#include "test/libstate/state_fixture.hpp"
#include "test/support/batches.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace headrace::state {
namespace {

using namespace headrace::testing;

graph::state_descriptor described(std::string name, graph::state_kind kind, std::int64_t ttl_ms) {
  graph::state_descriptor out;
  out.name = std::move(name);
  out.kind = kind;
  out.value_type = graph::logical_type::bytes();
  out.key_type = graph::logical_type::string();
  out.ttl_ms = ttl_ms;
  return out;
}

} // namespace

TEST_SUITE("state/heap/heap_expiry") {
TEST_CASE_FIXTURE(state_fixture, "what has expired goes though its key never comes again") {
  constexpr std::int64_t key_count = 2000;
  const auto backend = make(number_type());
  auto& value = backend->value(described("value", graph::state_kind::value, 1000));
  auto& list = backend->list(described("list", graph::state_kind::list, 1000));
  auto& map = backend->map(described("map", graph::state_kind::map, 1000));
  auto& lasting = backend->value(described("lasting", graph::state_kind::value, 0));
  check_ok(backend->settle_restored(false));
  std::vector<std::int64_t> all(key_count);
  std::iota(all.begin(), all.end(), 0);
  key_batch keys(backend->key(), max_parallelism);
  keys.assign(numbers(all), column_0);
  for (std::size_t row = 0; row < all.size(); ++row) {
    backend->set_current_key(keys, row);
    value.put("some bytes that are longer than what a row holds by itself");
    list.add("an element");
    map.put("entry", "1");
    map.put("other entry", "2");
    lasting.put("x");
  }
  CHECK(backend->row_count() == 5 * key_count);
  time.advance_ms(999);
  const auto keep_asking = [&](int times) {
    for (int i = 0; i < times; ++i) {
      backend->set_current_key(keys, 7);
      value.put("fresh");
      map.put("fresh", "3");
    }
  };
  keep_asking(10'000);
  CHECK(backend->row_count() >= 5 * key_count); // nothing is old enough

  time.advance_ms(1);
  const auto held = snapshot(*backend); // its pages stand still meanwhile
  keep_asking(30'000);

  CHECK(backend->row_count() == key_count + 2);
  CHECK(*value.get() == "fresh");
  CHECK(*map.get("fresh") == "3");
  CHECK(!map.get("entry"));
  CHECK(list.size() == 0);
  CHECK(*lasting.get() == "x");
  backend->set_current_key(keys, 8);
  CHECK(!value.get());
  CHECK(map.is_empty());
  CHECK(*lasting.get() == "x");
}
} // TEST_SUITE("state/heap/heap_expiry")

} // namespace headrace::state
