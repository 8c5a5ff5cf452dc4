#include "test/libstate/state_fixture.hpp"
#include "test/support/batches.hpp"

#include <doctest/doctest.h>

#include <numeric>

namespace headrace::state {
using namespace headrace::testing;

TEST_SUITE("state/heap/heap_table") {
TEST_CASE_FIXTURE(state_fixture, "memory that snapshots held comes back when they end") {
  const auto backend = make(number_type());
  auto& table = *take(backend->open_table(sums()));
  key_batch keys(backend->key(), max_parallelism);
  std::vector<std::int64_t> values(50'000);
  std::iota(values.begin(), values.end(), 0);
  keys.assign(numbers(values), column_0);
  located_rows at;
  check_ok(table.locate(keys, all_rows(values.size()), 0, access::insert, at));
  const auto before = backend->size_bytes();

  auto job = snapshot(*backend);
  check_ok(table.locate(keys, all_rows(values.size()), 0, access::update, at));
  const auto during = backend->size_bytes();
  job.reset();
  check_ok(table.locate(keys, all_rows(1), 0, access::update, at));

  CHECK(during >= before + 50'000 * 16);
  CHECK(backend->size_bytes() <= before + 16384);
  check_ok(table.drop_namespace(0));
  CHECK(backend->size_bytes() < 100'000);
}
} // TEST_SUITE("state/heap/heap_table")

} // namespace headrace::state
