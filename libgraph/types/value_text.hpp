#pragma once

#include "libgraph/types/digits.hpp"
#include "libgraph/types/logical_type.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

// The text of SQL values, as Flink reads and writes it: what formats, casts and printing share.
// Readers take the whole text (no spaces around it) or give nothing; writers append.
namespace headrace::graph {

/// Optional sign, then digits. Nothing when out of T's range.
template <class T>
std::optional<T> parse_integer(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text.empty())
    return std::nullopt;
  constexpr std::size_t fast_digits = 16;
  const auto fast = text.size() < fast_digits ? text.size() : fast_digits;
  const auto read = parse_digits(text.data(), fast);
  if (!read)
    return std::nullopt;
  auto value = *read;
  for (std::size_t i = fast; i < text.size(); ++i) {
    const auto digit = static_cast<unsigned>(static_cast<unsigned char>(text[i])) - '0';
    if (digit > 9U || __builtin_mul_overflow(value, std::uint64_t{10}, &value) ||
        __builtin_add_overflow(value, std::uint64_t{digit}, &value))
      return std::nullopt;
  }
  const auto limit = static_cast<std::uint64_t>(std::numeric_limits<T>::max()) + (negative ? 1 : 0);
  if (value > limit)
    return std::nullopt;
  return static_cast<T>(negative ? ~value + 1 : value);
}

/// "true" or "false", in any case.
std::optional<bool> parse_boolean(std::string_view text);
/// Also "NaN", "Infinity" and exponents; what is too large becomes an infinity.
std::optional<double> parse_double(std::string_view text);
std::optional<float> parse_float(std::string_view text);
/// The unscaled value, rounded half up to `scale`; nothing when it has more than `precision`
/// digits.
std::optional<int128> parse_decimal(std::string_view text, int precision, int scale);
/// "2024-02-29" → days since 1970-01-01.
std::optional<std::int32_t> parse_date(std::string_view text);
/// "12:34", "12:34:56" or "12:34:56.789" → milliseconds of the day.
std::optional<std::int32_t> parse_time(std::string_view text);

/// A point in time with or without zone.
struct parsed_timestamp {
  std::int64_t seconds = 0; ///< since 1970-01-01 00:00:00, by the wall clock that was written
  std::int32_t nanos = 0;   ///< 0 … 999 999 999
  std::optional<std::int32_t> offset_seconds; ///< east of UTC; "Z" is 0; nothing when not written
};
/// A date, 'T' or a space, a time, and perhaps 'Z' or "+01:00"; a date alone is its midnight.
std::optional<parsed_timestamp> parse_timestamp(std::string_view text);
/// Cuts to `precision` digits of seconds: milliseconds for precision 0–3, else nanoseconds.
int128 to_timestamp_value(const parsed_timestamp& parsed, int precision);

/// A point in time as it is written.
struct timestamp_parts {
  std::int32_t days = 0; ///< since 1970-01-01
  std::int32_t second_of_day = 0;
  std::int32_t nanos = 0;
};
/// Splits a value as in a column of `precision`. What is beyond the dates there are is shown as far
/// as they go.
timestamp_parts split_timestamp(int128 value, int precision);

void append_integer(std::int64_t value, std::string& out);
/// With leading zeros to `width` digits. `value` is not negative.
void append_padded(std::int64_t value, int width, std::string& out);
/// As Java does: shortest digits, "1.0", "1.0E10", "NaN", "Infinity".
void append_double(double value, std::string& out);
void append_float(float value, std::string& out);
void append_decimal(int128 unscaled, int scale, std::string& out);
void append_date(std::int32_t days, std::string& out);
/// "12:34:56", with ".789" when that is not zero.
void append_time(std::int32_t milliseconds, std::string& out);
/// "2024-02-29 12:34:56", with a fraction as long as needed. `value` is as in a column of
/// `precision`; `separator` stands between date and time.
void append_timestamp(int128 value, int precision, char separator, std::string& out);

void append_base64(std::string_view bytes, std::string& out);
/// Appends the bytes; false (and nothing appended) when `text` is not base64.
bool decode_base64(std::string_view text, std::string& out);

} // namespace headrace::graph
