#include "libgraph/types/value_text.hpp"

#include "test/support/seed.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>

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

/// Draws a text of `letters`, or of digits alone.
std::string random_number(std::mt19937_64& random, std::string_view letters, std::size_t size_max) {
  static constexpr std::string_view digits = "0123456789";
  std::string out;
  if (random() % 4 == 0)
    out += "+-"[random() % 2];
  const bool is_plain = random() % 2 == 0;
  const auto from = is_plain ? digits : letters;
  for (auto size = random() % (size_max + 1); size > 0; --size)
    out += random() % 4 == 0 ? '0' : from[random() % from.size()];
  if (is_plain && random() % 2 == 0)
    out.insert(random() % (out.size() + 1), 1, '.');
  return out;
}

/// Reads digit by digit, in a wide number.
template <class T>
std::optional<T> slow_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+'))
    text.remove_prefix(1);
  if (text.empty())
    return std::nullopt;
  int128 value = 0;
  for (const char letter : text) {
    if (letter < '0' || letter > '9')
      return std::nullopt;
    value = std::min<int128>(value * 10 + (letter - '0'), int128{1} << 100U);
  }
  value = negative ? -value : value;
  if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max())
    return std::nullopt;
  return static_cast<T>(value);
}

/// Rounds the text's digits as written, without exponent.
std::optional<int128> slow_decimal(std::string_view text, int precision, int scale) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+'))
    text.remove_prefix(1);
  int128 value = 0;
  int behind = -1; // digits behind the point
  bool has_digit = false;
  bool rounds_up = false;
  for (const char letter : text) {
    if (letter == '.' && behind < 0) {
      behind = 0;
      continue;
    }
    if (letter < '0' || letter > '9')
      return std::nullopt;
    has_digit = true;
    if (behind < scale)
      value = value * 10 + (letter - '0');
    else if (behind == scale)
      rounds_up = letter >= '5';
    behind += behind >= 0 ? 1 : 0;
  }
  if (!has_digit)
    return std::nullopt;
  for (auto missing = std::max(behind, 0); missing < scale; ++missing)
    value *= 10;
  value += rounds_up ? 1 : 0;
  int128 limit = 1;
  for (int i = 0; i < precision; ++i)
    limit *= 10;
  if (value >= limit)
    return std::nullopt;
  return negative ? -value : value;
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

TEST_CASE("integers of any length are read as digit by digit") {
  std::mt19937_64 random(testing::seed());
  for (int round = 0; round < 100'000; ++round) {
    const auto text = random_number(random, "0123456789:/ ", 24);
    CAPTURE(text);
    REQUIRE(parse_integer<std::int64_t>(text) == slow_integer<std::int64_t>(text));
    REQUIRE(parse_integer<std::int32_t>(text) == slow_integer<std::int32_t>(text));
    REQUIRE(parse_integer<std::int16_t>(text) == slow_integer<std::int16_t>(text));
  }
  for (int letter = 0; letter < 256; ++letter) { // no letter but a digit passes, wherever it stands
    for (std::size_t size = 1; size <= 18; ++size) {
      std::string text(size, '7');
      text[random() % size] = static_cast<char>(letter);
      CAPTURE(text);
      REQUIRE(parse_integer<std::int64_t>(text) == slow_integer<std::int64_t>(text));
    }
  }
}

TEST_CASE("decimals of any length are read as digit by digit") {
  std::mt19937_64 random(testing::seed());
  for (int round = 0; round < 100'000; ++round) {
    const auto text = random_number(random, "0123456789.x", 26);
    const auto precision = static_cast<int>(random() % 38) + 1;
    const auto scale = static_cast<int>(random() % (static_cast<unsigned>(precision) + 1));
    if (text.size() + static_cast<std::size_t>(scale) > 37)
      continue; // more than the slow reader can hold
    CAPTURE(text);
    CAPTURE(precision);
    CAPTURE(scale);
    const auto read = parse_decimal(text, precision, scale);
    const auto wanted = slow_decimal(text, precision, scale);
    REQUIRE(read.has_value() == wanted.has_value());
    REQUIRE((!read || *read == *wanted));
  }
}

TEST_CASE("floating numbers are the nearest to what is written") {
  std::mt19937_64 random(testing::seed());
  const auto same = [](auto read, auto wanted) {
    return read == wanted && std::signbit(read) == std::signbit(wanted);
  };
  for (int round = 0; round < 100'000; ++round) {
    auto text = random_number(random, "0123456789.", 20);
    if (random() % 8 == 0)
      text += "e" + std::to_string(random() % 40);
    CAPTURE(text);
    char* end = nullptr;
    const auto wanted = std::strtod(text.c_str(), &end);
    const bool is_number = !text.empty() && end == text.c_str() + text.size();
    const auto read = parse_double(text);
    REQUIRE(read.has_value() == is_number);
    REQUIRE((!read || same(*read, wanted)));
    const auto narrow = parse_float(text);
    REQUIRE(narrow.has_value() == is_number);
    REQUIRE((!narrow || same(*narrow, std::strtof(text.c_str(), nullptr))));
  }
  CHECK_FALSE(parse_double("+-1"));
  CHECK_FALSE(parse_float("+-Infinity"));
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
  CHECK(written(append_timestamp, int128{1} << 100U, 9, ' ').substr(0, 23) ==
        "+5881580-07-11 00:00:00");
  CHECK(parse_timestamp("2024-01-01")->seconds == 1704067200);
  CHECK(parse_timestamp("2024-01-01T00:00:00-05:30")->offset_seconds == -19800);
  for (const auto* text : {"2024-01-01X00:00", "2024-01-01 ", "2024-01-01 00:00:00.", "x",
                           "2024-01-01 00:00:00+", "2024-01-01 25:00:00"})
    CHECK_FALSE(parse_timestamp(text));
}

TEST_CASE("timestamps read back as written, and mutilated ones only where they still are one") {
  std::mt19937_64 random(testing::seed());
  for (int round = 0; round < 100'000; ++round) {
    // Years 1 to 9999.
    const auto seconds = static_cast<std::int64_t>(random() % 315537897600) - 62135596800;
    constexpr int128 per_second = 1'000'000'000;
    const auto value = int128{seconds} * per_second +
                       static_cast<std::int64_t>(random() % 1'000'000'000) /
                           (round % 2 == 0 ? 1 : 1'000'000) * (round % 2 == 0 ? 1 : 1'000'000);
    std::string text;
    append_timestamp(value, 9, "T "[random() % 2], text);
    CAPTURE(text);
    const auto read = parse_timestamp(text);
    REQUIRE(read);
    REQUIRE(to_timestamp_value(*read, 9) == value);

    auto other = text;
    const auto at = random() % other.size();
    other[at] = static_cast<char>(random());
    CAPTURE(other);
    const auto mutilated = parse_timestamp(other);
    // The date and the time are also read each on its own, letter by letter.
    const bool has_zone = other.ends_with('Z') || other.ends_with('z');
    const auto date = parse_date(std::string_view(other).substr(0, 10));
    const auto time = parse_time(std::string_view(other).substr(11, other.size() - 11 - has_zone));
    const bool separates = other[10] == ' ' || other[10] == 'T' || other[10] == 't';
    const bool has_offset = other.find_first_of("+-", 11) != std::string::npos;
    if (has_offset || (other[0] == '+' || other[0] == '-'))
      continue;
    REQUIRE(mutilated.has_value() == (date && time && separates));
    if (mutilated) {
      REQUIRE(mutilated->seconds == *date * std::int64_t{86400} + *time / 1000);
      REQUIRE(mutilated->nanos / 1'000'000 == *time % 1000);
    }
  }
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
