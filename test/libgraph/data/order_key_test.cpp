#include "libgraph/data/order_key.hpp"

#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/order_key_reader.hpp"
#include "libgraph/kernel/compare.hpp"

#include <doctest/doctest.h>

#include <array>
#include <limits>

namespace headrace::graph {
namespace {

int sign_of(int value) { return value < 0 ? -1 : static_cast<int>(value > 0); }

/// As SQL orders two rows.
int compare_rows(const record_batch& rows, const std::vector<order_column>& order, std::size_t left,
                 std::size_t right) {
  for (const auto& each : order) {
    const auto& values = rows.at(static_cast<std::size_t>(each.column));
    const bool left_null = values.is_null(left);
    const bool right_null = values.is_null(right);
    if (left_null || right_null) {
      if (left_null == right_null)
        continue;
      return left_null == each.nulls_first ? -1 : 1;
    }
    const int by_value = sign_of(compare_values(values, left, values, right));
    if (by_value != 0)
      return each.is_descending ? -by_value : by_value;
  }
  return 0;
}

/// Keys say what they were written of, and what is cut off is no key.
void check_read(const record_batch& rows, const std::vector<order_column>& order,
                const encoded_keys& keys) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    batch_builder read(rows.type());
    std::vector<column_builder*> to;
    for (std::size_t column = 0; column < order.size(); ++column)
      to.push_back(&read.column(column));
    const auto done = decode_order_key(keys[i], order, to);
    REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
    read.end_row();
    const auto row = read.finish();
    for (std::size_t column = 0; column < order.size(); ++column)
      CHECK(are_equal_keys(rows.at(column), i, row.at(column), 0));

    batch_builder cut(rows.type());
    to.clear();
    for (std::size_t column = 0; column < order.size(); ++column)
      to.push_back(&cut.column(column));
    CHECK(!decode_order_key(keys[i].substr(0, keys[i].size() - 1), order, to));
  }
}

} // namespace

TEST_SUITE("graph/data/order_key") {

TEST_CASE("the bytes of random rows are in the order of the rows") {
  testing::dice random(testing::seed());
  const std::array types{
      logical_type::boolean(),    logical_type::tinyint(),      logical_type::smallint(),
      logical_type::integer(),    logical_type::bigint(),       logical_type::float32(),
      logical_type::float64(),    logical_type::decimal(30, 5), logical_type::timestamp(3),
      logical_type::timestamp(9), logical_type::string(),       logical_type::date()};
  for (int run = 0; run < testing::runs(50); ++run) {
    std::vector<logical_type::field> fields;
    std::vector<order_column> order;
    for (int i = 0; i < 3; ++i) {
      fields.push_back({"f" + std::to_string(i), types[random.below(types.size())], {}});
      order.push_back({i, random.one_in(2), random.one_in(2)});
    }
    batch_builder built(std::make_shared<const logical_type>(logical_type::row(fields)));
    for (int row = 0; row < 30; ++row) {
      for (std::size_t i = 0; i < fields.size(); ++i)
        testing::append_random(random, built.column(i),
                               random.one_in(2) ? testing::variety::few : testing::variety::many);
      built.end_row();
    }
    const auto rows = built.finish();
    encoded_keys keys;
    encode_order_keys(rows, order, keys);
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t k = 0; k < rows.size(); ++k)
        CHECK(sign_of(keys[i].compare(keys[k])) == compare_rows(rows, order, i, k));
    check_read(rows, order, keys);
  }
}

TEST_CASE("texts with zeros and texts that begin like others") {
  batch_builder built(std::make_shared<const logical_type>(
      logical_type::row({{"s", logical_type::string(), {}}, {"n", logical_type::tinyint(), {}}})));
  using namespace std::string_view_literals;
  for (const auto text : {""sv, "\0"sv, "\0\0"sv, "\0a"sv, "a"sv, "a\0"sv, "a\0b"sv, "a\x01"sv,
                          "ab"sv, "b"sv, "\xff"sv}) {
    built.column(0).append_string(text);
    built.column(1).append(std::int8_t{-1});
    built.end_row();
  }
  const auto rows = built.finish();
  encoded_keys rising;
  encoded_keys falling;
  encode_order_keys(rows, std::vector<order_column>{{0, false, false}, {1, true, false}}, rising);
  encode_order_keys(rows, std::vector<order_column>{{0, true, false}, {1, true, false}}, falling);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    CHECK(rising[i - 1] < rising[i]);
    CHECK(falling[i] < falling[i - 1]);
  }
}

TEST_CASE("negative zero is zero, and NaN is the greatest") {
  batch_builder built(std::make_shared<const logical_type>(
      logical_type::row({{"d", logical_type::float64(), {}}})));
  for (const double value :
       {-0.0, 0.0, std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::quiet_NaN()}) {
    built.column(0).append(value);
    built.end_row();
  }
  encoded_keys keys;
  encode_order_keys(built.finish(), std::vector<order_column>{{0, false, false}}, keys);
  CHECK(keys[0] == keys[1]);
  CHECK(keys[1] < keys[2]);
  CHECK(keys[2] < keys[3]);
  CHECK(keys[3] == keys[4]);
}

} // TEST_SUITE("graph/data/order_key")

} // namespace headrace::graph
