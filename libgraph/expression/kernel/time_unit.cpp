#include "libgraph/expression/kernel/time_unit.hpp"

#include "libgraph/expression/kernel/calendar.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace headrace::graph {
namespace {

/// Monday is 1.
std::int64_t iso_weekday(std::int64_t days) { return floor_modulo(days + 3, 7) + 1; }

/// The day of the ISO week's Thursday says its year.
std::int64_t thursday_of(std::int64_t days) { return days + 4 - iso_weekday(days); }

std::int64_t iso_week(std::int64_t days) {
  const auto thursday = thursday_of(days);
  return (thursday - to_days({to_civil(thursday).year, 1, 1})) / 7 + 1;
}

std::int64_t extract_from_day(time_unit unit, std::int64_t days) {
  const auto date = to_civil(days);
  const auto rounded_up = [&](std::int64_t years) {
    return date.year > 0 ? (date.year + years - 1) / years : date.year / years - 1;
  };
  switch (unit) {
  case time_unit::millennium:
    return rounded_up(1000);
  case time_unit::century:
    return rounded_up(100);
  case time_unit::decade:
    return floor_divide(date.year, 10);
  case time_unit::year:
    return date.year;
  case time_unit::iso_year:
    return to_civil(thursday_of(days)).year;
  case time_unit::quarter:
    return (date.month - 1) / 3 + 1;
  case time_unit::month:
    return date.month;
  case time_unit::week:
    return iso_week(days);
  case time_unit::day:
    return date.day;
  case time_unit::day_of_week:
    return iso_weekday(days) % 7 + 1;
  case time_unit::iso_day_of_week:
    return iso_weekday(days);
  default:
    return days - to_days({date.year, 1, 1}) + 1; // of the year
  }
}

/// The length of a unit in milliseconds; 0: not always the same.
std::int64_t length_of(time_unit unit) {
  switch (unit) {
  case time_unit::week:
    return 7 * millis_per_day;
  case time_unit::day:
    return millis_per_day;
  case time_unit::hour:
    return 3'600'000;
  case time_unit::minute:
    return 60'000;
  case time_unit::second:
    return 1'000;
  case time_unit::millisecond:
    return 1;
  default:
    return 0;
  }
}

/// The length of a unit in months; 0: it is no number of them.
std::int64_t months_of(time_unit unit) {
  switch (unit) {
  case time_unit::millennium:
    return 12'000;
  case time_unit::century:
    return 1'200;
  case time_unit::decade:
    return 120;
  case time_unit::year:
    return 12;
  case time_unit::quarter:
    return 3;
  case time_unit::month:
    return 1;
  default:
    return 0;
  }
}

std::int64_t move_months(std::int64_t millis, std::int64_t months) {
  return add_months(floor_divide(millis, millis_per_day), months) * millis_per_day +
         floor_modulo(millis, millis_per_day);
}

} // namespace

std::optional<time_unit> parse_time_unit(std::string_view word) {
  using u = time_unit;
  static constexpr std::array<std::pair<std::string_view, u>, 20> words{{
      {"MILLENNIUM", u::millennium},
      {"CENTURY", u::century},
      {"DECADE", u::decade},
      {"YEAR", u::year},
      {"ISOYEAR", u::iso_year},
      {"QUARTER", u::quarter},
      {"MONTH", u::month},
      {"WEEK", u::week},
      {"DAY", u::day},
      {"DOW", u::day_of_week},
      {"ISODOW", u::iso_day_of_week},
      {"DOY", u::day_of_year},
      {"HOUR", u::hour},
      {"MINUTE", u::minute},
      {"SECOND", u::second},
      {"MILLISECOND", u::millisecond},
      {"FRAC_SECOND", u::microsecond},
      {"MICROSECOND", u::microsecond},
      {"NANOSECOND", u::nanosecond},
      {"EPOCH", u::epoch},
  }};
  const auto* const found = std::find_if(words.begin(), words.end(),
                                         [&](const auto& each) { return each.first == word; });
  return found == words.end() ? std::nullopt : std::optional(found->second);
}

std::int64_t extract_long_unit(time_unit unit, std::int64_t millis) {
  switch (unit) {
  case time_unit::hour:
    return floor_modulo(millis, millis_per_day) / 3'600'000;
  case time_unit::minute:
    return floor_modulo(millis, 3'600'000) / 60'000;
  case time_unit::second:
    return floor_modulo(millis, 60'000) / 1'000;
  case time_unit::epoch:
    return floor_divide(millis, 1'000);
  default:
    return extract_from_day(unit, floor_divide(millis, millis_per_day));
  }
}

std::int64_t extract_unit(time_unit unit, int128 nanos) {
  constexpr std::int64_t nanos_per_second = 1'000'000'000;
  auto seconds = static_cast<std::int64_t>(nanos / nanos_per_second);
  if (nanos % nanos_per_second < 0)
    --seconds;
  const auto of_second =
      static_cast<std::int64_t>(((nanos % nanos_per_second) + nanos_per_second) % nanos_per_second);
  switch (unit) {
  case time_unit::hour:
    return floor_modulo(seconds, 86'400) / 3'600;
  case time_unit::minute:
    return floor_modulo(seconds, 3'600) / 60;
  case time_unit::second:
    return floor_modulo(seconds, 60);
  case time_unit::millisecond:
    return of_second / 1'000'000;
  case time_unit::microsecond:
    return of_second / 1'000;
  case time_unit::nanosecond:
    return of_second;
  case time_unit::epoch:
    return seconds;
  default:
    return extract_from_day(unit, floor_divide(seconds, 86'400));
  }
}

bool has_begin(time_unit unit) { return months_of(unit) > 0 || length_of(unit) > 0; }

std::int64_t floor_to_unit(time_unit unit, std::int64_t millis) {
  if (unit == time_unit::week) {
    const auto days = floor_divide(millis, millis_per_day);
    return (days - iso_weekday(days) % 7) * millis_per_day;
  }
  if (const auto length = length_of(unit); length > 0)
    return millis - floor_modulo(millis, length);
  auto date = to_civil(floor_divide(millis, millis_per_day));
  const auto months = months_of(unit);
  // Centuries and millennia begin with the year 1.
  const std::int64_t first = months >= 1'200 ? 12 : 0;
  const auto month = date.year * 12 + date.month - 1 -
                     floor_modulo(date.year * 12 + date.month - 1 - first, months);
  date.year = floor_divide(month, 12);
  date.month = static_cast<std::int32_t>(floor_modulo(month, 12)) + 1;
  date.day = 1;
  return to_days(date) * millis_per_day;
}

bool can_be_added(time_unit unit) {
  return has_begin(unit) || unit == time_unit::microsecond || unit == time_unit::nanosecond;
}

std::int64_t add_units(time_unit unit, std::int64_t millis, std::int64_t count) {
  if (const auto months = months_of(unit); months > 0)
    return move_months(millis, count * months);
  if (unit == time_unit::microsecond)
    return millis + floor_divide(count, 1'000);
  if (unit == time_unit::nanosecond)
    return millis + floor_divide(count, 1'000'000);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(millis) +
                                   static_cast<std::uint64_t>(count) *
                                       static_cast<std::uint64_t>(length_of(unit)));
}

std::int64_t count_units(time_unit unit, std::int64_t from, std::int64_t to) {
  const auto months = months_of(unit);
  if (months == 0) {
    if (unit == time_unit::microsecond)
      return (to - from) * 1'000;
    if (unit == time_unit::nanosecond)
      return (to - from) * 1'000'000;
    return (to - from) / length_of(unit);
  }
  // Counted from the earlier one on.
  if (to < from)
    return -count_units(unit, to, from);
  const auto first = to_civil(floor_divide(from, millis_per_day));
  const auto last = to_civil(floor_divide(to, millis_per_day));
  auto count = (last.year - first.year) * 12 + last.month - first.month;
  if (move_months(from, count) > to)
    --count;
  return count / months;
}

} // namespace headrace::graph
