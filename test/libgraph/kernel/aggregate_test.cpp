#include "libgraph/kernel/aggregate.hpp"

#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"
#include "libgraph/expression/kernel/decimal.hpp"
#include "libgraph/kernel/compare.hpp"
#include "libgraph/kernel/decimal_sum.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace headrace::graph {

using namespace headrace::testing;

namespace {

row_type_ptr one_column(logical_type type) {
  return std::make_shared<const logical_type>(logical_type::row({{"c", std::move(type), {}}}));
}

int128 integer_at(const column& values, std::size_t row) {
  switch (values.type().width_bytes()) {
  case 1:
    return values.values<std::int8_t>()[row];
  case 2:
    return values.values<std::int16_t>()[row];
  case 4:
    return values.values<std::int32_t>()[row];
  case 8:
    return values.values<std::int64_t>()[row];
  default:
    return values.values<int128>()[row];
  }
}

} // namespace

TEST_SUITE("graph/kernel/aggregate") {

TEST_CASE("sums and counts skip NULLs and rows that are not selected") {
  dice random(seed() + 80);
  for (int round = 0; round < 200; ++round) {
    const logical_type types[] = {logical_type::tinyint(), logical_type::smallint(),
                                  logical_type::integer(), logical_type::bigint(),
                                  logical_type::decimal(30, 2)};
    std::vector<std::string> texts;
    const auto batch = random_batch(random, one_column(types[random.below(5)]), random.below(100),
                                    variety::many, texts);
    int128 sum = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (batch.at(0).is_null(batch.row_at(i)))
        continue;
      sum += integer_at(batch.at(0), batch.row_at(i));
      ++count;
    }

    const auto found = sum_integers(batch, 0);

    CHECK((found.sum == sum));
    CHECK(found.count == count);
    CHECK(count_values(batch, 0) == count);
  }
}

TEST_CASE("a sum of BIGINT does not overflow") {
  batch_builder builder(one_column(logical_type::bigint()));
  for (int i = 0; i < 2; ++i) {
    builder.column(0).append(std::numeric_limits<std::int64_t>::max());
    builder.end_row();
  }

  CHECK((sum_integers(builder.finish(), 0).sum ==
         static_cast<int128>(std::numeric_limits<std::int64_t>::max()) * 2));
}

TEST_CASE("a sum of decimals that leaves 128 bits on the way is lost") {
  const auto sum_of = [](const std::vector<int128>& values) {
    batch_builder builder(one_column(logical_type::decimal(38, 0)));
    for (const auto each : values) {
      builder.column(0).append(each);
      builder.end_row();
    }
    return sum_integers(builder.finish(), 0).sum;
  };
  const auto most = power_of_ten(38) - 1;
  const auto half = power_of_ten(37) * 6;

  CHECK((sum_of({half, half}) == half * 2)); // of 39 digits
  CHECK((sum_of({most, most}) == lost_decimal_sum));
  CHECK((sum_of({most, most, most, most}) == lost_decimal_sum));
  CHECK((sum_of({-most, -most, -most, -most}) == lost_decimal_sum));
  CHECK((sum_of({most, most, -most, -most}) == lost_decimal_sum));
}

TEST_CASE("a lost sum of decimals stays lost") {
  const auto most = power_of_ten(38) - 1;

  CHECK((take_from_decimal_sum(add_to_decimal_sum(0, most), most) == 0));
  for (const int128 by : {int128{0}, int128{1}, int128{-1}, most, -most, lost_decimal_sum}) {
    CHECK((add_to_decimal_sum(lost_decimal_sum, by) == lost_decimal_sum));
    CHECK((take_from_decimal_sum(lost_decimal_sum, by) == lost_decimal_sum));
    CHECK((add_to_decimal_sum(by, lost_decimal_sum) == lost_decimal_sum));
    CHECK((take_from_decimal_sum(by, lost_decimal_sum) == lost_decimal_sum));
  }
  CHECK(!fits_precision(lost_decimal_sum, decimal_digits_max));
}

TEST_CASE("reals are summed in order") {
  batch_builder builder(one_column(logical_type::float64()));
  for (const double each : {0.5, 1.25, -0.75}) {
    builder.column(0).append(each);
    builder.end_row();
  }
  builder.column(0).append_null();
  builder.end_row();

  const auto found = sum_reals(builder.finish(), 0);

  CHECK(found.sum == 1.0);
  CHECK(found.count == 3);
}

TEST_CASE("the least and the greatest are the first in order") {
  dice random(seed() + 81);
  int empty = 0;
  for (int round = 0; round < 300; ++round) {
    auto type = random_type(random, 0);
    std::vector<std::string> texts;
    const auto batch = random_batch(random, one_column(type), random.below(60),
                                    random.one_in(2) ? variety::few : variety::many, texts);
    const auto& values = batch.at(0);
    std::optional<std::uint32_t> least;
    std::optional<std::uint32_t> greatest;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto row = batch.row_at(i);
      if (values.is_null(row))
        continue;
      if (!least || compare_values(values, row, values, *least) < 0)
        least = row;
      if (!greatest || compare_values(values, row, values, *greatest) > 0)
        greatest = row;
    }

    CHECK(least_row(batch, 0) == least);
    CHECK(greatest_row(batch, 0) == greatest);
    empty += least ? 0 : 1;
  }
  CHECK(empty > 0);
}

} // TEST_SUITE("graph/kernel/aggregate")

} // namespace headrace::graph
