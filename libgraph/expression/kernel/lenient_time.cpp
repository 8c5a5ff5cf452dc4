#include "libgraph/expression/kernel/lenient_time.hpp"

#include "libgraph/expression/kernel/calendar.hpp"

#include <algorithm>

namespace headrace::graph {
namespace {

/// Takes between one and `most` digits; -1: there is none.
std::int64_t take_digits(std::string_view& text, std::size_t most) {
  std::size_t count = 0;
  std::int64_t out = 0;
  while (count < most && count < text.size() && text[count] >= '0' && text[count] <= '9')
    out = out * 10 + (text[count++] - '0');
  text.remove_prefix(count);
  return count == 0 ? -1 : out;
}

bool take(std::string_view& text, char sign) {
  if (!text.starts_with(sign))
    return false;
  text.remove_prefix(1);
  return true;
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

/// Nanoseconds of a fraction.
std::optional<std::int32_t> take_fraction(std::string_view& text) {
  const auto before = text.size();
  auto value = take_digits(text, 9);
  if (value < 0)
    return std::nullopt;
  for (auto digits = before - text.size(); digits < 9; ++digits)
    value *= 10;
  return static_cast<std::int32_t>(value);
}

} // namespace

std::optional<std::int32_t> read_date(std::string_view text) {
  text = without_blanks(text);
  text = text.substr(0, text.find(' '));
  civil_day day;
  day.year = take_digits(text, 6);
  std::int64_t month = 1;
  std::int64_t of_month = 1;
  if (take(text, '-'))
    month = take_digits(text, 2);
  if (take(text, '-'))
    of_month = take_digits(text, 2);
  if (day.year < 0 || month < 1 || month > 12 || !text.empty())
    return std::nullopt;
  day.month = static_cast<std::int32_t>(month);
  if (of_month < 1 || of_month > days_of_month(day.year, day.month))
    return std::nullopt;
  day.day = static_cast<std::int32_t>(of_month);
  return static_cast<std::int32_t>(to_days(day));
}

std::optional<parsed_timestamp> read_point(std::string_view text) {
  text = without_blanks(text);
  civil_day day;
  day.year = take_digits(text, 4);
  const bool has_month = take(text, '-');
  const auto month = take_digits(text, 2);
  const bool has_day = take(text, '-');
  const auto of_month = take_digits(text, 2);
  if (day.year < 0 || !has_month || !has_day || month < 1 || month > 12 || of_month < 1 ||
      of_month > 31)
    return std::nullopt;
  day.month = static_cast<std::int32_t>(month);
  day.day = std::min(static_cast<std::int32_t>(of_month), days_of_month(day.year, day.month));
  parsed_timestamp out;
  out.seconds = to_days(day) * 86'400;
  if (text.empty())
    return out;
  if (!take(text, ' '))
    return std::nullopt;
  const auto hour = take_digits(text, 2);
  const bool has_minute = take(text, ':');
  const auto minute = take_digits(text, 2);
  const bool has_second = take(text, ':');
  const auto second = take_digits(text, 2);
  if (!has_minute || !has_second || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
      second < 0 || second > 59)
    return std::nullopt;
  out.seconds += hour * 3'600 + minute * 60 + second;
  if (take(text, '.')) {
    const auto fraction = take_fraction(text);
    if (!fraction)
      return std::nullopt;
    out.nanos = *fraction;
  }
  return text.empty() ? std::optional(out) : std::nullopt;
}

} // namespace headrace::graph
