#include "libgraph/data/row_format.hpp"

#include "libgraph/data/batch_builder.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace headrace::graph {

namespace {

template <class T>
std::string text_of(const logical_type& type, T value) {
  column_builder builder(type);
  if constexpr (std::is_convertible_v<T, std::string_view>)
    builder.append_string(value);
  else
    builder.append(value);
  std::string out;
  format_value(*builder.finish(), 0, out);
  return out;
}

std::string real(double value) { return text_of(logical_type::float64(), value); }
std::string real(float value) { return text_of(logical_type::float32(), value); }

int128 nanos(std::int64_t seconds, std::int64_t rest) {
  return static_cast<int128>(seconds) * 1000000000 + rest;
}

} // namespace

TEST_SUITE("graph/data/row_format") {

TEST_CASE("a row prints as the print sink of Flink writes it") {
  batch_builder builder(std::make_shared<const logical_type>(
      logical_type::row({{"word", logical_type::string(), {}},
                         {"count", logical_type::bigint(), {}},
                         {"good", logical_type::boolean(), {}}})));
  const auto append = [&](const char* word, std::int64_t count) {
    builder.column(0).append_string(word);
    builder.column(1).append(count);
    builder.column(2).append(std::uint8_t{1});
  };
  append("hello", 1);
  builder.end_row();
  append("hello", 1);
  builder.end_row(row_kind::update_before);
  builder.column(0).append_null();
  builder.column(1).append(std::int64_t{2});
  builder.column(2).append_null();
  builder.end_row(row_kind::update_after, 7);
  append("", -5);
  builder.end_row(row_kind::delete_);
  const auto batch = builder.finish();

  CHECK(to_string(row_view(batch, 0)) == "+I[hello, 1, true]");
  CHECK(to_string(row_view(batch, 1)) == "-U[hello, 1, true]");
  CHECK(to_string(row_view(batch, 2)) == "+U[null, 2, null]");
  CHECK(to_string(row_view(batch, 3)) == "-D[, -5, true]");
  CHECK(to_string(row_view(batch.slice(1, 2), 1)) == "+U[null, 2, null]");
}

TEST_CASE("a view reads fields of the selected row") {
  batch_builder builder(std::make_shared<const logical_type>(
      logical_type::row({{"a", logical_type::string(), {}}, {"b", logical_type::float64(), {}}})));
  for (const auto* word : {"one", "two", "three"}) {
    builder.column(0).append_string(word);
    builder.column(1).append(1.5);
    builder.end_row(std::int64_t{42});
  }
  const auto batch = builder.finish().slice(2, 1);

  const row_view row(batch, 0);

  CHECK(row.field_count() == 2);
  CHECK(row.get_string(0) == "three");
  CHECK(row.get<double>(1) == 1.5);
  CHECK_FALSE(row.is_null(0));
  CHECK(row.kind() == row_kind::insert);
  CHECK(row.timestamp_ms() == 42);
}

TEST_CASE("numbers print as Java does") {
  CHECK(text_of(logical_type::tinyint(), std::int8_t{-128}) == "-128");
  CHECK(text_of(logical_type::smallint(), std::int16_t{300}) == "300");
  CHECK(text_of(logical_type::bigint(), std::numeric_limits<std::int64_t>::min()) ==
        "-9223372036854775808");
  CHECK(real(0.0) == "0.0");
  CHECK(real(-0.0) == "-0.0");
  CHECK(real(1.0) == "1.0");
  CHECK(real(100.25) == "100.25");
  CHECK(real(0.001) == "0.001");
  CHECK(real(0.00012) == "1.2E-4");
  CHECK(real(9999999.0) == "9999999.0");
  CHECK(real(1e7) == "1.0E7");
  CHECK(real(-1.25e300) == "-1.25E300");
  CHECK(real(1e100) == "1.0E100");
  CHECK(real(0.1F) == "0.1");
  CHECK(real(1.5e10F) == "1.5E10");
  CHECK(real(std::numeric_limits<double>::quiet_NaN()) == "NaN");
  CHECK(real(-std::numeric_limits<double>::infinity()) == "-Infinity");
}

TEST_CASE("decimals print all digits of their scale") {
  const auto decimal = [](int128 unscaled, int scale) {
    return text_of(logical_type::decimal(38, scale), unscaled);
  };
  CHECK(decimal(0, 0) == "0");
  CHECK(decimal(0, 2) == "0.00");
  CHECK(decimal(12345, 2) == "123.45");
  CHECK(decimal(-5, 3) == "-0.005");
  CHECK(decimal(7, 0) == "7");
  const auto least = static_cast<int128>(1) << 126U;
  CHECK(decimal(-least - least, 38) == "-1.70141183460469231731687303715884105728");
}

TEST_CASE("times print as ISO 8601") {
  CHECK(text_of(logical_type::date(), std::int32_t{0}) == "1970-01-01");
  CHECK(text_of(logical_type::date(), std::int32_t{19782}) == "2024-02-29");
  CHECK(text_of(logical_type::date(), std::int32_t{-1}) == "1969-12-31");
  CHECK(text_of(logical_type::date(), std::int32_t{-719529}) == "-0001-12-31");
  CHECK(text_of(logical_type::date(), std::int32_t{2932897}) == "+10000-01-01");
  CHECK(text_of(logical_type::time(0), std::int32_t{43200000}) == "12:00");
  CHECK(text_of(logical_type::time(3), std::int32_t{1500}) == "00:00:01.500");
  CHECK(text_of(logical_type::timestamp(3), std::int64_t{0}) == "1970-01-01T00:00");
  CHECK(text_of(logical_type::timestamp(3), std::int64_t{-1}) == "1969-12-31T23:59:59.999");
  CHECK(text_of(logical_type::timestamp(3), std::int64_t{1706702400123}) ==
        "2024-01-31T12:00:00.123");
  CHECK(text_of(logical_type::timestamp_ltz(3), std::int64_t{1706702400000}) ==
        "2024-01-31T12:00:00Z");
  CHECK(text_of(logical_type::timestamp(9), nanos(1706702400, 1)) ==
        "2024-01-31T12:00:00.000000001");
  CHECK(text_of(logical_type::timestamp(6), nanos(1706702400, 120000)) ==
        "2024-01-31T12:00:00.000120");
  CHECK(text_of(logical_type::timestamp(9), static_cast<int128>(1) << 126U).size() > 10);
  CHECK(text_of(logical_type::interval_year_month(), std::int32_t{14}) == "P1Y2M");
  CHECK(text_of(logical_type::interval_year_month(), std::int32_t{0}) == "P0D");
  CHECK(text_of(logical_type::interval_day_time(), std::int64_t{93784500}) == "PT26H3M4.5S");
  CHECK(text_of(logical_type::interval_day_time(), std::int64_t{60000}) == "PT1M");
  CHECK(text_of(logical_type::interval_day_time(), std::int64_t{-500}) == "PT-0.5S");
  CHECK(text_of(logical_type::interval_day_time(), std::int64_t{0}) == "PT0S");
}

TEST_CASE("nested values print with brackets") {
  const auto type = logical_type::row(
      {{"tags", logical_type::array(logical_type::string()), {}},
       {"counts", logical_type::map(logical_type::string(), logical_type::integer()), {}},
       {"raw", logical_type::bytes(), {}}});
  column_builder builder(type);
  builder.child(0).begin_list();
  builder.child(0).child(0).append_string("a");
  builder.child(0).child(0).append_null();
  builder.child(0).end_list();
  builder.child(1).begin_list();
  builder.child(1).child(0).append_string("k");
  builder.child(1).child(1).append(std::int32_t{3});
  builder.child(1).end_list();
  builder.child(2).append_string("\x01\xfe");
  builder.end_row();
  builder.append_null();
  const auto values = builder.finish();

  std::string out;
  format_value(*values, 0, out);
  CHECK(out == "+I[[a, null], {k=3}, [1, -2]]");
  out.clear();
  format_value(*values, 1, out);
  CHECK(out == "null");
}

} // TEST_SUITE("graph/data/row_format")

} // namespace headrace::graph
