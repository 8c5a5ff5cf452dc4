#include "libgraph/kernel/compare.hpp"

#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace headrace::graph {

using namespace headrace::testing;

TEST_SUITE("graph/kernel/compare") {

TEST_CASE("keys are equal if and only if they read the same") {
  dice random(seed() + 90);
  for (int round = 0; round < 200; ++round) {
    const auto type = random_row_type(random, 3);
    std::vector<std::string> texts;
    const auto plain = [&] {
      return random_batch(random, type, 40, variety::few, texts)
          .with_selection(nullptr, 0)
          .with_kinds(nullptr)
          .with_timestamps(nullptr);
    };
    const auto left = plain();
    const auto right = plain();
    const auto left_texts = row_texts(left);
    const auto right_texts = row_texts(right);
    std::vector<std::uint32_t> left_rows;
    std::vector<std::uint32_t> right_rows;
    for (int i = 0; i < 200; ++i) {
      left_rows.push_back(static_cast<std::uint32_t>(random.below(40)));
      right_rows.push_back(static_cast<std::uint32_t>(random.below(40)));
    }
    std::vector<std::uint8_t> equal(left_rows.size(), 1);

    for (std::size_t column = 0; column < left.column_count(); ++column)
      compare_keys(left.at(column), left_rows, right.at(column), right_rows, equal);

    for (std::size_t i = 0; i < equal.size(); ++i)
      CHECK((equal[i] == 1) == (left_texts[left_rows[i]] == right_texts[right_rows[i]]));
  }
}

TEST_CASE("values are ordered with NULL first and NaN last") {
  column_builder builder(logical_type::float64());
  builder.append_null();
  builder.append(-1.0);
  builder.append(0.0);
  builder.append(std::numeric_limits<double>::infinity());
  builder.append(std::numeric_limits<double>::quiet_NaN());
  const auto values = builder.finish();

  for (std::size_t left = 0; left < values->size(); ++left)
    for (std::size_t right = 0; right < values->size(); ++right) {
      const auto order = compare_values(*values, left, *values, right);
      CHECK((order < 0) == (left < right));
      CHECK((order > 0) == (left > right));
    }
  CHECK(compare_fixed(0.0, -0.0) == 0);
}

TEST_CASE("strings are ordered by unsigned bytes") {
  column_builder builder(logical_type::string());
  for (const auto* each : {"", "a", "ab", "ab and many more bytes", "b", "\xc3\xa4"})
    builder.append_string(each);
  const auto values = builder.finish();

  for (std::size_t i = 1; i < values->size(); ++i)
    CHECK(compare_values(*values, i - 1, *values, i) < 0);
}

} // TEST_SUITE("graph/kernel/compare")

} // namespace headrace::graph
