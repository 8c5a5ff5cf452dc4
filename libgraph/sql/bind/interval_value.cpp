#include "libgraph/sql/bind/interval_value.hpp"

namespace headrace::sql {
namespace {

constexpr std::int64_t second_ms = 1'000;
constexpr std::int64_t minute_ms = 60 * second_ms;
constexpr std::int64_t hour_ms = 60 * minute_ms;
constexpr std::int64_t day_ms = 24 * hour_ms;

/// What one of the unit counts in months or milliseconds.
std::int64_t factor_of(interval_unit unit) {
  switch (unit) {
  case interval_unit::year:
    return 12;
  case interval_unit::quarter:
    return 3;
  case interval_unit::month:
    return 1;
  case interval_unit::week:
    return 7 * day_ms;
  case interval_unit::day:
    return day_ms;
  case interval_unit::hour:
    return hour_ms;
  case interval_unit::minute:
    return minute_ms;
  case interval_unit::second:
    break;
  }
  return second_ms;
}

/// What stands between the unit and the next one: "1-2", "1 02:03:04".
char separator_behind(interval_unit unit) {
  return unit == interval_unit::year ? '-' : unit == interval_unit::day ? ' ' : ':';
}

interval_unit unit_behind(interval_unit unit) {
  return unit == interval_unit::year
             ? interval_unit::month
             : static_cast<interval_unit>(static_cast<std::uint8_t>(unit) + 1);
}

/// Takes the digits at the front; nothing when there are none, or too many.
std::optional<std::int64_t> take_number(std::string_view& text) {
  constexpr std::size_t digits_max = 18;
  std::size_t count = 0;
  std::int64_t out = 0;
  while (count < text.size() && text[count] >= '0' && text[count] <= '9') {
    if (count == digits_max)
      return std::nullopt;
    out = out * 10 + (text[count] - '0');
    ++count;
  }
  if (count == 0)
    return std::nullopt;
  text.remove_prefix(count);
  return out;
}

/// ".5" → 500; what follows the third digit is cut off.
std::optional<std::int64_t> take_fraction(std::string_view& text) {
  text.remove_prefix(1);
  if (text.empty())
    return std::nullopt;
  std::int64_t out = 0;
  std::int64_t place = 100;
  while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    out += place * (text[0] - '0');
    place /= 10;
    text.remove_prefix(1);
  }
  return out;
}

} // namespace

std::optional<std::int64_t> interval_value(std::string_view text,
                                           const interval_qualifier& qualifier) {
  bool is_negative = false;
  while (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    is_negative ^= text[0] == '-';
    text.remove_prefix(1);
  }
  std::int64_t out = 0;
  auto unit = qualifier.from;
  const auto last = qualifier.to.value_or(unit);
  while (true) {
    const auto number = take_number(text);
    std::int64_t part = 0;
    if (!number || __builtin_mul_overflow(*number, factor_of(unit), &part) ||
        __builtin_add_overflow(out, part, &out))
      return std::nullopt;
    if (unit == last)
      break;
    if (text.empty() || text[0] != separator_behind(unit))
      return std::nullopt;
    text.remove_prefix(1);
    unit = unit_behind(unit);
  }
  if (last == interval_unit::second && !text.empty() && text[0] == '.') {
    const auto fraction = take_fraction(text);
    if (!fraction || __builtin_add_overflow(out, *fraction, &out))
      return std::nullopt;
  }
  if (!text.empty())
    return std::nullopt;
  return is_negative ? -out : out;
}

} // namespace headrace::sql
