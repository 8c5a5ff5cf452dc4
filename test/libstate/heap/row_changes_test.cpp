#include "libstate/heap/row_changes.hpp"

#include "test/support/seed.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <set>
#include <vector>

namespace headrace::state {
namespace {

std::vector<std::uint32_t> rows_of(const row_set& set) {
  std::vector<std::uint32_t> out;
  set.for_each([&](std::uint32_t row) { out.push_back(row); });
  return out;
}

TEST_SUITE_BEGIN("state/heap/row_changes");

TEST_CASE("marks are given once, and in order") {
  row_marks marks;
  marks.reserve(300);
  for (const std::uint32_t row : {299, 0, 63, 64, 0})
    marks.mark(row);

  const auto first = row_set::of(marks.take());

  CHECK(rows_of(first) == std::vector<std::uint32_t>{0, 63, 64, 299});
  CHECK(first.size() == 4);
  CHECK(row_set::of(marks.take()).is_empty());
  marks.mark(299); // room is as it was
  CHECK(rows_of(row_set::of(marks.take())) == std::vector<std::uint32_t>{299});
  marks.mark_all();
  CHECK(row_set::of(marks.take()).is_all());
  CHECK(row_set::of(marks.take()).is_empty());
}

TEST_CASE("sets are merged as sets are") {
  const auto random = make_seeded_random(testing::seed());
  for (int run = 0; run < 200; ++run) {
    std::set<std::uint32_t> model;
    row_set merged;
    for (int part = 0; part < 3; ++part) {
      std::set<std::uint32_t> rows;
      for (auto i = random->below(20); i > 0; --i)
        rows.insert(static_cast<std::uint32_t>(random->below(500)));
      row_set set;
      for (const auto row : rows)
        set.add(row);
      merged.merge(set);
      model.merge(rows);
    }
    CHECK(rows_of(merged) == std::vector<std::uint32_t>(model.begin(), model.end()));
  }
  row_set some;
  some.add(3);
  some.merge(row_set::all());
  CHECK(some.is_all());
  some.merge(row_set());
  CHECK(some.is_all());
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::state
