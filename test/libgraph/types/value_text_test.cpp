#include "libgraph/types/value_text.hpp"

#include "test/support/seed.hpp"

#include <doctest/doctest.h>

#include <random>

namespace headrace::graph {
namespace {

template <class Append, class... Arguments>
std::string written(Append append, Arguments... arguments) {
  std::string out;
  append(arguments..., out);
  return out;
}

std::string decimal(const char* text, int precision, int scale) {
  const auto parsed = parse_decimal(text, precision, scale);
  return parsed ? written(append_decimal, *parsed, scale) : "none";
}

} // namespace

TEST_SUITE("graph/types/value_text") {
TEST_CASE("integers are read up to their range") {
  CHECK(parse_integer<std::int8_t>("-128") == std::int8_t{-128});
  CHECK_FALSE(parse_integer<std::int8_t>("128"));
  CHECK(parse_integer<std::int64_t>("-9223372036854775808") ==
        std::numeric_limits<std::int64_t>::min());
  CHECK(parse_integer<std::int64_t>("+9223372036854775807") ==
        std::numeric_limits<std::int64_t>::max());
  for (const auto* text : {"9223372036854775808", "99999999999999999999", "", "-", "1x", "x", " 1",
                           "0x10", "1.0", "--1"})
    CHECK_FALSE(parse_integer<std::int64_t>(text));
  CHECK(parse_integer<std::int64_t>("00000000000000000000012") == 12);
}

TEST_CASE("doubles are written as Java writes them") {
  CHECK(written(append_double, 1.0) == "1.0");
  CHECK(written(append_double, -0.0) == "-0.0");
  CHECK(written(append_double, 1e7) == "1.0E7");
  CHECK(written(append_double, 123456.789) == "123456.789");
  CHECK(written(append_double, 0.001) == "0.001");
  CHECK(written(append_double, 1.5e-5) == "1.5E-5");
  CHECK(written(append_double, 1e300 * 1e10) == "Infinity");
  CHECK(written(append_float, 0.1F) == "0.1");
  CHECK(*parse_double("+1.5e3") == 1500.0);
  CHECK(*parse_double("-Infinity") < 0);
  CHECK(*parse_double("1e999") > 1e308);
  for (const auto* text : {"", "+", "++1", "1,5", "e5", "1e", "abc"})
    CHECK_FALSE(parse_double(text));
}

TEST_CASE("decimals are rounded half up and bounded by their precision") {
  CHECK(decimal("1.005", 5, 2) == "1.01");
  CHECK(decimal("-1.004", 5, 2) == "-1.00");
  CHECK(decimal("999.994", 5, 2) == "999.99");
  CHECK(decimal("999.995", 5, 2) == "none");
  CHECK(decimal("1000", 5, 2) == "none");
  CHECK(decimal("1.5e2", 5, 2) == "150.00");
  CHECK(decimal("15E-4", 5, 2) == "0.00");
  CHECK(decimal("5e-3", 5, 2) == "0.01");
  CHECK(decimal(".5", 3, 1) == "0.5");
  CHECK(decimal("5.", 3, 1) == "5.0");
  CHECK(decimal("0e999999999", 3, 1) == "0.0");
  CHECK(decimal("99999999999999999999999999999999999999", 38, 0) ==
        "99999999999999999999999999999999999999");
  CHECK(decimal("-0.000000000000000000000000000000000001", 38, 38) ==
        "-0.00000000000000000000000000000000000100");
  for (const auto* text : {"", ".", "-", "1.2.3", "1e", "1x", "e1"})
    CHECK(decimal(text, 5, 2) == "none");
}

TEST_CASE("dates follow the calendar") {
  CHECK(parse_date("1970-01-01") == 0);
  CHECK(parse_date("2000-02-29") == 11016);
  CHECK(parse_date("0001-01-01") == -719162);
  CHECK(written(append_date, -719162) == "0001-01-01");
  for (const auto* text :
       {"1900-02-29", "2024-13-01", "2024-00-01", "2024-1-1", "2024-01-32", "", "2024-01-01x"})
    CHECK_FALSE(parse_date(text));
  for (std::int32_t days = -800'000; days < 3'000'000; days += 97)
    REQUIRE(parse_date(written(append_date, days)) == days);
}

TEST_CASE("times and timestamps are cut to their precision") {
  CHECK(parse_time("12:34:56.789123") == 45296789);
  CHECK(parse_time("12:34") == 45240000);
  CHECK_FALSE(parse_time("24:00:00"));
  const auto parsed = parse_timestamp("1969-12-31 23:59:59.123456789");
  REQUIRE(parsed);
  CHECK(to_timestamp_value(*parsed, 0) == -1000);
  CHECK(to_timestamp_value(*parsed, 3) == -877);
  CHECK(to_timestamp_value(*parsed, 6) == -876'544'000);
  CHECK(written(append_timestamp, int128{-877}, 3, ' ') == "1969-12-31 23:59:59.123");
  CHECK(written(append_timestamp, int128{-876'543'211}, 9, 'T') == "1969-12-31T23:59:59.123456789");
  CHECK(parse_timestamp("2024-01-01")->seconds == 1704067200);
  CHECK(parse_timestamp("2024-01-01T00:00:00-05:30")->offset_seconds == -19800);
  for (const auto* text : {"2024-01-01X00:00", "2024-01-01 ", "2024-01-01 00:00:00.", "x",
                           "2024-01-01 00:00:00+", "2024-01-01 25:00:00"})
    CHECK_FALSE(parse_timestamp(text));
}

TEST_CASE("base64 reads back as the same") {
  std::mt19937_64 random(testing::seed());
  for (std::size_t size = 0; size < 50; ++size) {
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i)
      bytes += static_cast<char>(random());
    std::string back;
    REQUIRE(decode_base64(written(append_base64, std::string_view(bytes)), back));
    CHECK(back == bytes);
  }
  std::string out = "kept";
  CHECK_FALSE(decode_base64("a$==", out));
  CHECK_FALSE(decode_base64("aaaaa", out));
  CHECK(out == "kept");
  CHECK(written(append_base64, std::string_view("hi")) == "aGk=");
}
} // TEST_SUITE("graph/types/value_text")

} // namespace headrace::graph
