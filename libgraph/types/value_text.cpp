#include "libgraph/types/value_text.hpp"

#include "libactors/base/assert.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

namespace headrace::graph {
namespace {

constexpr std::int64_t seconds_per_day = 86'400;
constexpr std::int64_t nanos_per_second = 1'000'000'000;

constexpr std::size_t powers_of_ten_count = 39; // the last is 10^38

constexpr std::array<int128, powers_of_ten_count> make_powers_of_ten() {
  std::array<int128, powers_of_ten_count> out{};
  out[0] = 1;
  for (std::size_t i = 1; i < out.size(); ++i)
    out[i] = out[i - 1] * 10;
  return out;
}
constexpr auto powers_of_ten = make_powers_of_ten();
int128 power_of_ten(int exponent) { return powers_of_ten[static_cast<std::size_t>(exponent)]; }

constexpr std::array<std::uint64_t, 17> make_small_powers_of_ten() {
  std::array<std::uint64_t, 17> out{};
  out[0] = 1;
  for (std::size_t i = 1; i < out.size(); ++i)
    out[i] = out[i - 1] * 10;
  return out;
}
constexpr auto small_powers_of_ten = make_small_powers_of_ten();

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() &&
         std::equal(text.begin(), text.end(), lower.begin(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
}

/// Takes values off the front of a text.
class text_cursor {
public:
  explicit text_cursor(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }
  char peek() const { return text_.empty() ? '\0' : text_.front(); }
  bool take(char wanted) {
    if (peek() != wanted || text_.empty())
      return false;
    text_.remove_prefix(1);
    return true;
  }
  /// Takes `count` digits.
  bool take_digits(std::size_t count, std::int32_t& out) {
    if (text_.size() < count)
      return false;
    std::int32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_digit(text_[i]))
        return false;
      value = value * 10 + (text_[i] - '0');
    }
    text_.remove_prefix(count);
    out = value;
    return true;
  }
  /// Takes at least `least` and at most `most` digits.
  bool take_digits(std::size_t least, std::size_t most, std::int32_t& out) {
    std::size_t count = 0;
    while (count < text_.size() && count < most && is_digit(text_[count]))
      ++count;
    return count >= least && take_digits(count, out);
  }
  /// Takes a fraction of a second; digits behind the ninth are cut.
  bool take_fraction(std::int32_t& nanos) {
    std::size_t count = 0;
    std::int32_t value = 0;
    for (; count < text_.size() && is_digit(text_[count]); ++count) {
      if (count < 9)
        value = value * 10 + (text_[count] - '0');
    }
    if (count == 0)
      return false;
    text_.remove_prefix(count);
    for (; count < 9; ++count)
      value *= 10;
    nanos = value;
    return true;
  }

private:
  std::string_view text_;
};

// From a civil date to days and back: Howard Hinnant, "chrono-Compatible Low-Level Date
// Algorithms" (public domain).
std::int64_t days_from_civil(std::int64_t year, std::int64_t month, std::int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const auto era = (year >= 0 ? year : year - 399) / 400;
  const auto year_of_era = year - era * 400;
  const auto day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const auto day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

struct civil_date {
  std::int64_t year;
  std::int64_t month;
  std::int64_t day;
};
civil_date civil_from_days(std::int64_t days) {
  days += 719468;
  const auto era = (days >= 0 ? days : days - 146096) / 146097;
  const auto day_of_era = days - era * 146097;
  const auto year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const auto day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const auto shifted = (5 * day_of_year + 2) / 153;
  const auto month = shifted + (shifted < 10 ? 3 : -9);
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month,
          day_of_year - (153 * shifted + 2) / 5 + 1};
}

std::int32_t days_in_month(std::int32_t year, std::int32_t month) {
  constexpr std::array<std::int32_t, 12> days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : days[static_cast<std::size_t>(month - 1)];
}

bool take_date(text_cursor& cursor, std::int64_t& days) {
  const bool negative = cursor.take('-');
  const bool has_sign = negative || cursor.take('+');
  std::int32_t year = 0;
  std::int32_t month = 0;
  std::int32_t day = 0;
  if (!cursor.take_digits(4, has_sign ? 7 : 4, year) || !cursor.take('-') ||
      !cursor.take_digits(2, month) || !cursor.take('-') || !cursor.take_digits(2, day))
    return false;
  if (negative)
    year = -year;
  if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month))
    return false;
  days = days_from_civil(year, month, day);
  return true;
}

bool take_time(text_cursor& cursor, std::int64_t& seconds, std::int32_t& nanos) {
  std::int32_t hour = 0;
  std::int32_t minute = 0;
  std::int32_t second = 0;
  nanos = 0;
  if (!cursor.take_digits(2, hour) || !cursor.take(':') || !cursor.take_digits(2, minute))
    return false;
  if (cursor.take(':')) {
    if (!cursor.take_digits(2, second))
      return false;
    if (cursor.take('.') && !cursor.take_fraction(nanos))
      return false;
  }
  if (hour > 23 || minute > 59 || second > 59)
    return false;
  seconds = (hour * 60 + minute) * 60 + second;
  return true;
}

/// Subtracts a pattern, in which '0' stands for any digit, from a word of eight letters. What is
/// left are the digits' values, and zeros; nothing when the letters are not so.
template <std::uint64_t Digits>
std::optional<std::uint64_t> match_digits(std::uint64_t letters, std::uint64_t pattern) {
  const auto rest = letters ^ pattern;
  constexpr auto reach = 0x7f7f7f7f7f7f7f7f - Digits * 9; // others stay below 0x80 only when zero
  if (((rest | (rest + reach)) & 0x8080808080808080) != 0)
    return std::nullopt;
  return rest;
}

/// Reads "2024-02-29 12:34:56", perhaps with a fraction of at most nine digits: what nearly all
/// timestamps are.
///
/// @returns false when the text is anything else, though perhaps a timestamp
bool take_usual_timestamp(std::string_view text, parsed_timestamp& out) {
  constexpr std::size_t size_without_fraction = 19;
  if (text.size() < size_without_fraction)
    return false;
  if (text[10] != ' ' && text[10] != 'T')
    return false;
  const auto date = match_digits<0x0001010001010101>(load_word(text.data()), load_word("0000-00-"));
  const auto time =
      match_digits<0x0101000101000101>(load_word(text.data() + 11), load_word("00:00:00"));
  const auto day_tens = static_cast<unsigned>(text[8] - '0');
  const auto day_ones = static_cast<unsigned>(text[9] - '0');
  if (!date || !time || day_tens > 9 || day_ones > 9)
    return false;
  const auto date_pairs = *date * 10 + (*date >> 8U);
  const auto time_pairs = *time * 10 + (*time >> 8U);
  const auto pair = [](std::uint64_t pairs, unsigned at) {
    return static_cast<std::int32_t>(pairs >> 8U * at & 0xffU);
  };
  const auto year = pair(date_pairs, 0) * 100 + pair(date_pairs, 2);
  const auto month = pair(date_pairs, 5);
  const auto day = static_cast<std::int32_t>(day_tens * 10 + day_ones);
  const auto hour = pair(time_pairs, 0);
  const auto minute = pair(time_pairs, 3);
  const auto second = pair(time_pairs, 6);
  if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month) || hour > 23 ||
      minute > 59 || second > 59)
    return false;
  const auto fraction = text.substr(size_without_fraction);
  if (!fraction.empty()) {
    const auto digits = fraction.size() - 1;
    if (fraction.front() != '.' || digits == 0 || digits > 9)
      return false;
    const auto value = parse_digits(fraction.data() + 1, digits);
    if (!value)
      return false;
    out.nanos = static_cast<std::int32_t>(*value * small_powers_of_ten[9 - digits]);
  }
  out.seconds =
      days_from_civil(year, month, day) * seconds_per_day + (hour * 60 + minute) * 60 + second;
  return true;
}

bool take_offset(text_cursor& cursor, std::optional<std::int32_t>& offset) {
  if (cursor.take('Z') || cursor.take('z')) {
    offset = 0;
    return true;
  }
  const bool negative = cursor.take('-');
  if (!negative && !cursor.take('+'))
    return true;
  std::int32_t hours = 0;
  std::int32_t minutes = 0;
  if (!cursor.take_digits(2, hours))
    return false;
  if (cursor.take(':') || is_digit(cursor.peek())) {
    if (!cursor.take_digits(2, minutes))
      return false;
  }
  if (hours > 18 || minutes > 59)
    return false;
  offset = (negative ? -1 : 1) * (hours * 60 + minutes) * 60;
  return true;
}

/// A number without exponent: `unscaled` / 10^`fraction`.
struct plain_number {
  bool negative = false;
  std::uint64_t unscaled = 0;
  int digits = 0;
  int fraction = 0;
};

/// Reads a number of at most 16 digits without exponent; nothing when it is not so.
std::optional<plain_number> parse_plain(std::string_view text) {
  constexpr std::size_t digits_max = 16;
  plain_number out;
  out.negative = text.starts_with('-');
  if (out.negative)
    text.remove_prefix(1);
  if (text.empty() || text.size() > digits_max + 1)
    return std::nullopt;
  const auto* found = static_cast<const char*>(std::memchr(text.data(), '.', text.size()));
  const auto point = found == nullptr ? text.size() : static_cast<std::size_t>(found - text.data());
  const auto fraction = found == nullptr ? 0 : text.size() - point - 1;
  if (point + fraction == 0 || point + fraction > digits_max)
    return std::nullopt;
  if (point > 0) {
    const auto whole = parse_digits(text.data(), point);
    if (!whole)
      return std::nullopt;
    out.unscaled = *whole;
  }
  if (fraction > 0) {
    const auto behind = parse_digits(text.data() + point + 1, fraction);
    if (!behind)
      return std::nullopt;
    out.unscaled = out.unscaled * small_powers_of_ten[fraction] + *behind;
  }
  out.digits = static_cast<int>(point + fraction);
  out.fraction = static_cast<int>(fraction);
  return out;
}

/// The quotient of two numbers that T holds exactly is rounded once, so it is the nearest value.
template <class T>
std::optional<T> exact_quotient(const plain_number& number) {
  constexpr auto mantissa_max = std::uint64_t{1}
                                << static_cast<unsigned>(std::numeric_limits<T>::digits);
  constexpr int exact_power_max = std::is_same_v<T, float> ? 10 : 22; // 5^10 < 2^24, 5^22 < 2^53
  if (number.unscaled > mantissa_max || number.fraction > exact_power_max)
    return std::nullopt;
  const auto size = static_cast<T>(number.unscaled) /
                    static_cast<T>(small_powers_of_ten[static_cast<std::size_t>(number.fraction)]);
  return number.negative ? -size : size;
}

template <class T>
std::optional<T> parse_floating(std::string_view text) {
  if (const auto plain = parse_plain(text)) {
    if (const auto value = exact_quotient<T>(*plain))
      return value;
  }
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-'))
      return std::nullopt;
  }
  T value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || failed == std::errc::invalid_argument)
    return std::nullopt;
  if (failed == std::errc::result_out_of_range) {
    const std::string copy(text); // rare: an infinity or zero, whichever is nearer
    return static_cast<T>(std::strtod(copy.c_str(), nullptr));
  }
  return value;
}

template <class T>
void append_floating(T value, std::string& out) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  const auto size = std::abs(value);
  std::array<char, 64> text{};
  const bool plain = size == 0 || (size >= static_cast<T>(1e-3) && size < static_cast<T>(1e7));
  const auto* end = std::to_chars(text.data(), text.data() + text.size(), value,
                                  plain ? std::chars_format::fixed : std::chars_format::scientific)
                        .ptr;
  const auto has_one_digit = [&] { return text[value < 0 ? 2 : 1] == 'e'; };
  if (!plain && has_one_digit()) {
    // Java writes at least two digits: those that are nearest, where they name the same value.
    std::array<char, 64> nearest{};
    const auto* nearest_end = std::to_chars(nearest.data(), nearest.data() + nearest.size(), value,
                                            std::chars_format::scientific, 1)
                                  .ptr;
    T again = 0;
    std::from_chars(nearest.data(), nearest_end, again);
    if (again == value) {
      text = nearest;
      end = text.data() + (nearest_end - nearest.data());
    }
  }
  const std::string_view written(text.data(), static_cast<std::size_t>(end - text.data()));
  if (plain) {
    out += written;
    if (written.find('.') == std::string_view::npos)
      out += ".0";
    return;
  }
  // "1e+10" → "1.0E10", "1.5e-05" → "1.5E-5"
  const auto exponent_at = written.find('e');
  const auto mantissa = written.substr(0, exponent_at);
  out += mantissa;
  if (mantissa.find('.') == std::string_view::npos)
    out += ".0";
  out += 'E';
  auto exponent = written.substr(exponent_at + 1);
  if (exponent.front() == '-')
    out += '-';
  exponent.remove_prefix(1);
  while (exponent.size() > 1 && exponent.front() == '0')
    exponent.remove_prefix(1);
  out += exponent;
}

void append_day_time(std::int64_t second_of_day, std::int32_t nanos, std::string& out) {
  append_padded(second_of_day / 3600, 2, out);
  out += ':';
  append_padded(second_of_day / 60 % 60, 2, out);
  out += ':';
  append_padded(second_of_day % 60, 2, out);
  if (nanos != 0) {
    out += '.';
    append_padded(nanos, 9, out);
    while (out.back() == '0')
      out.pop_back();
  }
}

/// Any number of digits, an exponent, and rounding.
std::optional<int128> parse_long_decimal(std::string_view text, int precision, int scale) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+'))
    text.remove_prefix(1);
  const auto exponent_at = std::min(text.find_first_of("eE"), text.size());
  const auto mantissa = text.substr(0, exponent_at);
  std::int64_t exponent = 0;
  if (exponent_at < text.size()) {
    const auto parsed = parse_integer<std::int32_t>(text.substr(exponent_at + 1));
    if (!parsed)
      return std::nullopt;
    exponent = *parsed;
  }
  const auto point = std::min(mantissa.find('.'), mantissa.size());
  std::size_t digits = 0;
  std::size_t leading_zeros = 0;
  for (std::size_t i = 0; i < mantissa.size(); ++i) {
    if (i == point)
      continue;
    if (!is_digit(mantissa[i]))
      return std::nullopt;
    if (leading_zeros == digits && mantissa[i] == '0')
      ++leading_zeros;
    ++digits;
  }
  if (digits == 0)
    return std::nullopt;
  const auto fraction = static_cast<std::int64_t>(digits) -
                        static_cast<std::int64_t>(point); // digits behind the point
  const auto significant = static_cast<std::int64_t>(digits - leading_zeros);
  if (significant == 0)
    return int128{0};
  // Significant digits that make the unscaled value; those behind are rounded away.
  const auto kept = significant + scale + exponent - fraction;
  if (kept > precision)
    return std::nullopt;
  int128 value = 0;
  std::int64_t seen = -static_cast<std::int64_t>(leading_zeros);
  bool rounds_up = false;
  for (std::size_t i = 0; i < mantissa.size(); ++i) {
    if (i == point)
      continue;
    if (seen >= 0) {
      if (seen < kept) {
        value = value * 10 + (mantissa[i] - '0');
      } else {
        rounds_up = seen == kept && mantissa[i] >= '5';
        break;
      }
    }
    ++seen;
  }
  for (; seen < kept; ++seen)
    value *= 10;
  value += rounds_up ? 1 : 0;
  if (value >= power_of_ten(precision))
    return std::nullopt;
  return negative ? -value : value;
}

constexpr std::string_view base64_letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::uint8_t, 256> make_base64_values() {
  std::array<std::uint8_t, 256> out{};
  out.fill(0xff);
  for (std::size_t i = 0; i < base64_letters.size(); ++i)
    out[static_cast<unsigned char>(base64_letters[i])] = static_cast<std::uint8_t>(i);
  return out;
}
constexpr auto base64_values = make_base64_values();

} // namespace

std::optional<bool> parse_boolean(std::string_view text) {
  if (equals_ignoring_case(text, "true"))
    return true;
  if (equals_ignoring_case(text, "false"))
    return false;
  return std::nullopt;
}

std::optional<double> parse_double(std::string_view text) { return parse_floating<double>(text); }
std::optional<float> parse_float(std::string_view text) { return parse_floating<float>(text); }

std::optional<int128> parse_decimal(std::string_view text, int precision, int scale) {
  if (const auto plain = parse_plain(text);
      plain && plain->fraction <= scale && plain->digits + scale - plain->fraction <= 38) {
    const auto value = int128{plain->unscaled} * power_of_ten(scale - plain->fraction);
    if (value >= power_of_ten(precision))
      return std::nullopt;
    return plain->negative ? -value : value;
  }
  return parse_long_decimal(text, precision, scale);
}

std::optional<std::int32_t> parse_date(std::string_view text) {
  text_cursor cursor(text);
  std::int64_t days = 0;
  if (!take_date(cursor, days) || !cursor.at_end())
    return std::nullopt;
  return static_cast<std::int32_t>(days);
}

std::optional<std::int32_t> parse_time(std::string_view text) {
  text_cursor cursor(text);
  std::int64_t seconds = 0;
  std::int32_t nanos = 0;
  if (!take_time(cursor, seconds, nanos))
    return std::nullopt;
  if (!cursor.at_end() && (!cursor.take('Z') || !cursor.at_end()))
    return std::nullopt;
  return static_cast<std::int32_t>(seconds * 1000 + nanos / 1'000'000);
}

std::optional<parsed_timestamp> parse_timestamp(std::string_view text) {
  parsed_timestamp out;
  if (take_usual_timestamp(text, out))
    return out;
  text_cursor cursor(text);
  std::int64_t days = 0;
  std::int64_t second_of_day = 0;
  if (!take_date(cursor, days))
    return std::nullopt;
  if (!cursor.at_end()) {
    if (!cursor.take(' ') && !cursor.take('T') && !cursor.take('t'))
      return std::nullopt;
    if (!take_time(cursor, second_of_day, out.nanos) || !take_offset(cursor, out.offset_seconds) ||
        !cursor.at_end())
      return std::nullopt;
  }
  out.seconds = days * seconds_per_day + second_of_day;
  return out;
}

int128 to_timestamp_value(const parsed_timestamp& parsed, int precision) {
  constexpr std::array<std::int32_t, 10> units{
      1'000'000'000, 100'000'000, 10'000'000, 1'000'000, 100'000, 10'000, 1'000, 100, 10, 1};
  if (precision == 3)
    return int128{parsed.seconds * 1000 + parsed.nanos / 1'000'000};
  const auto unit = units[static_cast<std::size_t>(std::clamp(precision, 0, 9))];
  const auto nanos = parsed.nanos / unit * unit;
  if (precision <= 3)
    return int128{parsed.seconds} * 1000 + nanos / 1'000'000;
  return int128{parsed.seconds} * nanos_per_second + nanos;
}

timestamp_parts split_timestamp(int128 value, int precision) {
  constexpr std::int64_t seconds_max = seconds_per_day * std::numeric_limits<std::int32_t>::max();
  const std::int64_t per_second = precision <= 3 ? 1000 : nanos_per_second;
  auto wide_seconds = value / per_second;
  auto fraction = static_cast<std::int64_t>(value % per_second);
  if (fraction < 0) {
    fraction += per_second;
    --wide_seconds;
  }
  const auto seconds =
      static_cast<std::int64_t>(std::clamp<int128>(wide_seconds, -seconds_max, seconds_max));
  auto days = seconds / seconds_per_day;
  auto second_of_day = seconds % seconds_per_day;
  if (second_of_day < 0) {
    second_of_day += seconds_per_day;
    --days;
  }
  return {static_cast<std::int32_t>(days), static_cast<std::int32_t>(second_of_day),
          static_cast<std::int32_t>(fraction * (nanos_per_second / per_second))};
}

void append_integer(std::int64_t value, std::string& out) {
  std::array<char, 24> text{};
  out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
}

void append_padded(std::int64_t value, int width, std::string& out) {
  std::array<char, 24> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  for (auto digits = end - text.data(); digits < width; ++digits)
    out += '0';
  out.append(text.data(), end);
}

void append_double(double value, std::string& out) { append_floating(value, out); }
void append_float(float value, std::string& out) { append_floating(value, out); }

void append_decimal(int128 unscaled, int scale, std::string& out) {
  __extension__ using uint128 = unsigned __int128;
  auto rest = unscaled < 0 ? ~static_cast<uint128>(unscaled) + 1 : static_cast<uint128>(unscaled);
  std::array<char, 48> text{};
  auto at = text.size();
  for (int digits = 0; rest != 0 || digits <= scale; ++digits) {
    if (digits == scale && scale > 0)
      text[--at] = '.';
    text[--at] = static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  }
  if (unscaled < 0)
    out += '-';
  out.append(text.data() + at, text.size() - at);
}

void append_date(std::int32_t days, std::string& out) {
  const auto date = civil_from_days(days);
  if (date.year < 0)
    out += '-';
  else if (date.year > 9999)
    out += '+';
  append_padded(std::abs(date.year), 4, out);
  out += '-';
  append_padded(date.month, 2, out);
  out += '-';
  append_padded(date.day, 2, out);
}

void append_time(std::int32_t milliseconds, std::string& out) {
  append_day_time(milliseconds / 1000, milliseconds % 1000 * 1'000'000, out);
}

void append_timestamp(int128 value, int precision, char separator, std::string& out) {
  const auto parts = split_timestamp(value, precision);
  append_date(parts.days, out);
  out += separator;
  append_day_time(parts.second_of_day, parts.nanos, out);
}

void append_base64(std::string_view bytes, std::string& out) {
  const auto at = [&](std::size_t i) {
    return i < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) : 0U;
  };
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto group = at(i) << 16U | at(i + 1) << 8U | at(i + 2);
    out += base64_letters[group >> 18U];
    out += base64_letters[group >> 12U & 63U];
    out += i + 1 < bytes.size() ? base64_letters[group >> 6U & 63U] : '=';
    out += i + 2 < bytes.size() ? base64_letters[group & 63U] : '=';
  }
}

bool decode_base64(std::string_view text, std::string& out) {
  const auto before = out.size();
  if (text.size() % 4 == 0) {
    for (int i = 0; i < 2 && text.ends_with('='); ++i)
      text.remove_suffix(1);
  }
  std::uint32_t group = 0;
  unsigned bits = 0;
  for (const char letter : text) {
    const auto value = base64_values[static_cast<unsigned char>(letter)];
    if (value == 0xff) {
      out.resize(before);
      return false;
    }
    group = group << 6U | value;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += static_cast<char>(group >> bits & 0xffU);
    }
  }
  if (text.size() % 4 == 1) {
    out.resize(before);
    return false;
  }
  return true;
}

} // namespace headrace::graph
