#include "libtask/operator/aggregate/group_cells.hpp"

#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/expression/kernel/decimal.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace headrace::task {
namespace {

using graph::logical_type;

/// A call over a column of one type, and what it gives.
struct wanted {
  std::string function;
  logical_type input;
  logical_type result;
};

std::vector<wanted> all_calls() {
  const auto cents = logical_type::decimal(10, 2);
  return {{"COUNT", logical_type::null(), logical_type::bigint().not_null()},
          {"COUNT", logical_type::integer(), logical_type::bigint().not_null()},
          {"SUM", logical_type::tinyint(), logical_type::tinyint()},
          {"SUM", logical_type::integer(), logical_type::integer()},
          {"SUM", logical_type::bigint(), logical_type::bigint()},
          {"SUM", logical_type::float64(), logical_type::float64()},
          {"SUM", logical_type::float32(), logical_type::float32()},
          {"SUM", cents, logical_type::decimal(38, 2)},
          {"AVG", logical_type::integer(), logical_type::integer()},
          {"AVG", logical_type::float64(), logical_type::float64()},
          {"AVG", cents, logical_type::decimal(38, 6)},
          {"MIN", logical_type::bigint(), logical_type::bigint()},
          {"MAX", logical_type::float64(), logical_type::float64()},
          {"MAX", cents, cents},
          {"MIN", logical_type::date(), logical_type::date()},
          {"FIRST_VALUE", logical_type::smallint(), logical_type::smallint()},
          {"LAST_VALUE", logical_type::timestamp(3), logical_type::timestamp(3)},
          {"STDDEV_SAMP", logical_type::float64(), logical_type::float64()},
          {"VAR_POP", logical_type::integer(), logical_type::integer()}};
}

std::vector<std::string> texts_of(const graph::column& values) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < values.size(); ++i)
    out.push_back(testing::cell_text(values, i));
  return out;
}

} // namespace

TEST_SUITE_BEGIN("task/operator/aggregate/group_cells");

TEST_CASE("a batch of rows gives what its rows give one by one") {
  testing::dice random(testing::seed());
  for (int round = 0; round < 20; ++round) {
    for (const auto& call : all_calls()) {
      CAPTURE(call.function);
      CAPTURE(call.input.to_sql());
      const bool counts_rows = call.input == logical_type::null();
      const auto input =
          logical_type::row({{"v", counts_rows ? logical_type::integer() : call.input, {}}});
      const auto type = std::make_shared<const logical_type>(input);
      graph::group_aggregate_call described{call.function, {0}};
      if (counts_rows)
        described.arguments.clear();
      REQUIRE(group_cells::holds(described, input, false));
      group_cells cells;
      const auto cell = cells.add(described, input, call.result);

      constexpr std::size_t groups = 3;
      std::vector<std::vector<std::byte>> one_by_one(groups,
                                                     std::vector<std::byte>(cells.fixed_bytes()));
      auto all_at_once = one_by_one;
      for (int batch = 0; batch < 3; ++batch) {
        std::vector<std::string> texts;
        const auto in =
            testing::random_batch(random, type, random.below(50), testing::variety::many, texts);
        std::vector<std::uint32_t> rows;
        std::vector<std::byte*> places;
        std::vector<std::uint8_t> counts;
        graph::column_builder wanted_values(call.result.nullable());
        std::vector<group_cells::value> before;
        std::vector<std::uint8_t> wanted_changes;
        for (std::size_t i = 0; i < in.size(); ++i) {
          const auto group = random.below(groups);
          rows.push_back(in.row_at(i));
          places.push_back(all_at_once[group].data());
          counts.push_back(random.below(4) == 0 ? 0 : 1);
          auto* bytes = one_by_one[group].data();
          before.push_back(cells.result(cell, bytes));
          if (counts[i] != 0)
            cells.take(cell, in, rows[i], false, bytes);
          const auto after = cells.result(cell, bytes);
          wanted_changes.push_back(after == before.back() ? 0 : 1);
          cells.append(cell, after, wanted_values);
        }
        std::vector<std::uint32_t> which;
        for (std::uint32_t i = 0; i < in.size(); ++i)
          which.push_back(i);
        for (std::uint32_t i = 0; i < in.size(); ++i) {
          which.push_back(static_cast<std::uint32_t>(in.size()) + i);
          cells.append(cell, before[i], wanted_values);
        }

        group_cells::results given;
        given.has_before = true;
        std::vector<std::uint8_t> changes(in.size());
        cells.take_all(cell, in, rows, places, counts.data(), changes.data(), given);
        graph::column_builder values(call.result.nullable());
        cells.append_all(cell, given, which, values);

        CHECK(all_at_once == one_by_one);
        CHECK(texts_of(*values.finish()) == texts_of(*wanted_values.finish()));
        CHECK(changes == wanted_changes);
      }
    }
  }
}

TEST_CASE("a sum of decimals is NULL beyond 38 digits, and for good beyond 128 bits") {
  const auto type = logical_type::decimal(38, 0);
  const auto input = logical_type::row({{"v", type, {}}});
  const auto most = graph::power_of_ten(38) - 1;
  const auto half = graph::power_of_ten(37) * 6;
  graph::batch_builder built(std::make_shared<const logical_type>(input));
  for (const auto value : {most, half}) {
    built.column(0).append(value);
    built.end_row();
  }
  const auto in = built.finish();
  constexpr std::uint32_t most_row = 0;
  constexpr std::uint32_t half_row = 1;
  for (const std::string function : {"SUM", "AVG"}) {
    CAPTURE(function);
    group_cells cells;
    cells.add({function, {0}}, input, type);
    std::vector<std::byte> group(cells.fixed_bytes());
    const auto take = [&](std::uint32_t row, bool is_retracted) {
      cells.take(0, in, row, is_retracted, group.data());
    };
    const auto is_null = [&] { return cells.result(0, group.data()).is_null; };

    take(half_row, false);
    take(half_row, false);
    CHECK(is_null());
    CHECK(!cells.has_lost_sum(group.data()));
    take(half_row, true);
    CHECK((cells.result(0, group.data()) == group_cells::value{half, false}));

    for (int i = 0; i < 3; ++i) { // 128 bits wrap to a value that would do
      take(most_row, false);
      CHECK(is_null());
    }
    CHECK(cells.has_lost_sum(group.data()));
    for (int i = 0; i < 3; ++i) {
      take(most_row, true);
      CHECK(is_null());
    }
    // Merged with what is well it is lost as well, on both sides.
    std::vector<std::byte> other(cells.fixed_bytes());
    cells.take(0, in, half_row, false, other.data());
    auto into_other = other;
    cells.merge(group.data(), into_other.data());
    CHECK(cells.result(0, into_other.data()).is_null);
    CHECK(cells.has_lost_sum(into_other.data()));
    cells.merge(other.data(), group.data());
    CHECK(is_null());
    CHECK(cells.has_lost_sum(group.data()));
  }
}

TEST_SUITE_END();

} // namespace headrace::task
