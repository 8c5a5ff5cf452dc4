#include "libtask/task/batch_pacer.hpp"

#include <doctest/doctest.h>

using headrace::task::batch_pacer;

namespace {
/// Works on full batches at a cost of so much a row.
void work(batch_pacer& pacer, int batches, std::int64_t row_us) {
  for (int i = 0; i < batches; ++i) {
    const auto rows = pacer.rows_max();
    pacer.spent(static_cast<std::int64_t>(rows) * row_us);
    pacer.done(rows);
  }
}
} // namespace

TEST_SUITE("task/task/batch_pacer") {
TEST_CASE("it begins with few rows, and a quick task soon takes whole batches") {
  batch_pacer pacer;
  CHECK(pacer.rows_max() == batch_pacer::rows_first);
  work(pacer, 1, 0);
  CHECK(pacer.rows_max() == 2 * batch_pacer::rows_first);
  work(pacer, 5, 1);
  CHECK(pacer.rows_max() == batch_pacer::rows_most);
}

TEST_CASE("rows that cost much are taken so that they take a bounded time") {
  batch_pacer pacer;
  work(pacer, 10, 0);
  work(pacer, 1, 1000); // has become slow
  CHECK(pacer.rows_max() == batch_pacer::target_us / 1000);
  work(pacer, 1, 1'000'000);
  CHECK(pacer.rows_max() == 1);
  work(pacer, 12, 1);
  CHECK(pacer.rows_max() == batch_pacer::rows_most);
}

TEST_CASE("work that follows from no row says nothing") {
  batch_pacer pacer;
  pacer.spent(10'000'000);
  pacer.done(0);
  CHECK(pacer.rows_max() == batch_pacer::rows_first);
  pacer.done(64);
  CHECK(pacer.rows_max() == 128);
}
} // TEST_SUITE("task/task/batch_pacer")
