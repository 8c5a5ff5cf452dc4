#include "libtask/operator/aggregate/builtin_aggregate.hpp"

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/expression/kernel/decimal.hpp"

#include <doctest/doctest.h>

#include <array>
#include <numeric>
#include <vector>

namespace headrace::task {
namespace {

using graph::aggregate_call;
using graph::aggregate_kind;
using graph::logical_type;

TEST_SUITE_BEGIN("task/operator/aggregate/builtin_aggregate");

logical_type sales() {
  return logical_type::row({{"shop", logical_type::string(), ""},
                            {"amount", logical_type::integer(), ""},
                            {"price", logical_type::float64(), ""},
                            {"note", logical_type::string(), ""}});
}

struct sale {
  const char* shop;
  std::optional<std::int32_t> amount;
  double price;
  const char* note;
};

graph::record_batch batch_of(const std::vector<sale>& rows) {
  graph::batch_builder out(std::make_shared<const logical_type>(sales()));
  for (const auto& row : rows) {
    out.column(0).append_string(row.shop);
    if (row.amount)
      out.column(1).append(*row.amount);
    else
      out.column(1).append_null();
    out.column(2).append(row.price);
    out.column(3).append_string(row.note);
    out.end_row();
  }
  return out.finish();
}

/// Folds all rows into one accumulator, in both forms where fixed is possible, split over two
/// accumulators that are merged; gives the one result row.
graph::record_batch fold(const std::vector<aggregate_call>& calls, const logical_type& output,
                         const graph::record_batch& in) {
  const std::array<std::int32_t, 1> keys = {0};
  auto made = builtin_aggregate::make(calls, sales(), output, keys);
  REQUIRE(made);
  auto& function = **made;
  std::vector<std::uint32_t> rows(in.size());
  std::iota(rows.begin(), rows.end(), 0U);
  const std::int32_t key_columns[] = {0};
  const auto key_type = std::make_shared<const logical_type>(
      logical_type::row({{"shop", logical_type::string(), ""}}));
  const auto key_batch = in.slice(0, 1).project(key_type, key_columns).compact();
  graph::batch_builder out(std::make_shared<const logical_type>(output));
  const std::size_t half = rows.size() / 2;
  if (function.fixed_bytes() > 0) {
    std::vector<std::byte> first(function.fixed_bytes());
    std::vector<std::byte> second(function.fixed_bytes());
    std::vector<std::byte*> into;
    std::vector<std::uint8_t> fresh(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      into.push_back(i < half ? first.data() : second.data());
    function.add_fixed(in, rows, into, fresh);
    function.merge_fixed(first.data(), second.data());
    const std::byte* const all[] = {first.data()};
    function.result_fixed(key_batch, all, out);
  } else {
    byte_string first;
    byte_string second;
    for (std::size_t i = 0; i < rows.size(); ++i)
      function.add_variable(in, rows[i], i < half ? first : second);
    function.merge_variable(first, second);
    function.result_variable(key_batch, 0, first, out);
  }
  auto result = out.finish();
  REQUIRE(result.size() == 1);
  return result;
}

const std::vector<sale> four = {
    {"a", 3, 1.5, "x"}, {"a", std::nullopt, 0.5, "y"}, {"a", -2, 4.0, "z"}, {"a", 3, 2.0, "w"}};

TEST_CASE("numbers are folded past NULLs and cut to their output's width") {
  const auto output = logical_type::row({{"shop", logical_type::string(), ""},
                                         {"n", logical_type::bigint(), ""},
                                         {"n_amount", logical_type::bigint(), ""},
                                         {"sum", logical_type::integer(), ""},
                                         {"min", logical_type::integer(), ""},
                                         {"max", logical_type::float64(), ""},
                                         {"last", logical_type::float64(), ""}});
  const auto got = fold({{aggregate_kind::first, 0},
                         {aggregate_kind::count, -1},
                         {aggregate_kind::count, 1},
                         {aggregate_kind::sum, 1},
                         {aggregate_kind::min, 1},
                         {aggregate_kind::max, 2},
                         {aggregate_kind::last, 2}},
                        output, batch_of(four));
  CHECK(got.at(0).string_at(0) == "a");
  CHECK(got.at(1).values<std::int64_t>()[0] == 4);
  CHECK(got.at(2).values<std::int64_t>()[0] == 3);
  CHECK(got.at(3).values<std::int32_t>()[0] == 4);
  CHECK(got.at(4).values<std::int32_t>()[0] == -2);
  CHECK(got.at(5).values<double>()[0] == 4.0);
  CHECK(got.at(6).values<double>()[0] == 2.0);
}

TEST_CASE("the first of a column keeps a NULL, and no value at all sums to NULL") {
  const std::vector<sale> nulls = {{"a", std::nullopt, 1, "x"}, {"a", std::nullopt, 2, "y"}};
  const auto output = logical_type::row(
      {{"first", logical_type::integer(), ""}, {"sum", logical_type::integer(), ""}});

  const auto got =
      fold({{aggregate_kind::first, 1}, {aggregate_kind::sum, 1}}, output, batch_of(nulls));

  CHECK(got.at(0).is_null(0));
  CHECK(got.at(1).is_null(0));
}

TEST_CASE("strings are kept in the variable form, beside numbers") {
  const auto output = logical_type::row({{"shop", logical_type::string(), ""},
                                         {"least", logical_type::string(), ""},
                                         {"most", logical_type::string(), ""},
                                         {"first", logical_type::string(), ""},
                                         {"sum", logical_type::integer(), ""}});
  const auto got = fold({{aggregate_kind::first, 0},
                         {aggregate_kind::min, 3},
                         {aggregate_kind::max, 3},
                         {aggregate_kind::first, 3},
                         {aggregate_kind::sum, 1}},
                        output, batch_of(four));
  CHECK(got.at(1).string_at(0) == "w");
  CHECK(got.at(2).string_at(0) == "z");
  CHECK(got.at(3).string_at(0) == "x");
  CHECK(got.at(4).values<std::int32_t>()[0] == 4);
}

TEST_CASE("max_by gives the first row that has the largest value") {
  const auto got = fold({{aggregate_kind::max_by, 1}}, sales(), batch_of(four));
  CHECK(got.at(0).string_at(0) == "a");
  CHECK(got.at(1).values<std::int32_t>()[0] == 3);
  CHECK(got.at(2).values<double>()[0] == 1.5);
  CHECK(got.at(3).string_at(0) == "x");
}

TEST_CASE("a sum of decimals is NULL beyond 38 digits, also where 128 bits wrap to fewer") {
  const auto type = logical_type::decimal(38, 0);
  const auto input = logical_type::row({{"shop", logical_type::string(), ""}, {"v", type, ""}});
  const auto output = std::make_shared<const logical_type>(logical_type::row({{"sum", type, ""}}));
  const auto most = graph::power_of_ten(38) - 1;
  // How many at once, how many in what is merged, and the sum.
  struct sums {
    int first;
    int second;
    bool is_null;
  };
  for (const auto& each :
       {sums{1, 0, false}, {2, 0, true}, {4, 0, true}, {2, 2, true}, {0, 4, true}, {1, 3, true}}) {
    auto made = builtin_aggregate::make({{aggregate_kind::sum, 1}}, input, *output, {});
    REQUIRE(made);
    const auto bytes = (*made)->fixed_bytes();
    std::vector<std::byte> parts[] = {std::vector<std::byte>(bytes), std::vector<std::byte>(bytes)};
    graph::batch_builder rows(std::make_shared<const logical_type>(input));
    std::vector<std::byte*> into;
    std::vector<std::uint32_t> numbers;
    for (int i = 0; i < each.first + each.second; ++i) {
      rows.column(0).append_string("a");
      rows.column(1).append(most);
      rows.end_row();
      numbers.push_back(static_cast<std::uint32_t>(i));
      into.push_back(parts[i < each.first ? 0 : 1].data());
    }
    const auto in = rows.finish();
    (*made)->add_fixed(in, numbers, into, std::vector<std::uint8_t>(numbers.size()));
    (*made)->merge_fixed(parts[0].data(), parts[1].data());
    graph::batch_builder out(output);
    const std::byte* const all[] = {parts[0].data()};
    (*made)->result_fixed(in, all, out);
    const auto given = out.finish();

    CHECK(given.at(0).is_null(0) == each.is_null);
    if (!each.is_null)
      CHECK((given.at(0).values<graph::int128>()[0] == most));
  }
}

TEST_CASE("a sum of strings is refused with its type") {
  const auto made = builtin_aggregate::make({{aggregate_kind::sum, 3}}, sales(),
                                            logical_type::row({{"s", logical_type::string(), ""}}),
                                            std::span<const std::int32_t>());
  REQUIRE_FALSE(made);
  CHECK(made.error().code == errc::type_mismatch);
  CHECK(made.error().message.find("STRING") != std::string::npos);
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::task
