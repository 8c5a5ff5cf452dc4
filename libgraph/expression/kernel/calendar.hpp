#pragma once

#include <algorithm>
#include <cstdint>

// The Gregorian calendar, without end in both directions. From a civil date to days and back:
// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
namespace headrace::graph {

inline constexpr std::int64_t millis_per_day = 86'400'000;
inline constexpr std::int64_t nanos_per_milli = 1'000'000;

constexpr std::int64_t floor_divide(std::int64_t value, std::int64_t by) {
  return value / by - (value % by < 0 ? 1 : 0);
}
constexpr std::int64_t floor_modulo(std::int64_t value, std::int64_t by) {
  return value - floor_divide(value, by) * by;
}

struct civil_day {
  std::int64_t year = 1970;
  std::int32_t month = 1; ///< 1 to 12
  std::int32_t day = 1;   ///< 1 to 31
};

constexpr std::int64_t to_days(const civil_day& from) {
  const auto year = from.year - (from.month <= 2 ? 1 : 0);
  const auto era = floor_divide(year, 400);
  const auto of_era = year - era * 400;
  const auto of_year = (153 * (from.month + (from.month > 2 ? -3 : 9)) + 2) / 5 + from.day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

constexpr civil_day to_civil(std::int64_t days) {
  days += 719468;
  const auto era = floor_divide(days, 146097);
  const auto of_era = days - era * 146097;
  const auto year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const auto of_year = of_era - (365 * year + year / 4 - year / 100);
  const auto month = (5 * of_year + 2) / 153;
  civil_day out;
  out.day = static_cast<std::int32_t>(of_year - (153 * month + 2) / 5 + 1);
  out.month = static_cast<std::int32_t>(month < 10 ? month + 3 : month - 9);
  out.year = year + era * 400 + (out.month <= 2 ? 1 : 0);
  return out;
}

constexpr bool is_leap_year(std::int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

constexpr std::int32_t days_of_month(std::int64_t year, std::int32_t month) {
  if (month == 2)
    return is_leap_year(year) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

/// Moves by months; a day that the month has not becomes its last.
constexpr std::int64_t add_months(std::int64_t days, std::int64_t months) {
  auto date = to_civil(days);
  const auto month = date.year * 12 + date.month - 1 + months;
  date.year = floor_divide(month, 12);
  date.month = static_cast<std::int32_t>(floor_modulo(month, 12)) + 1;
  date.day = std::min(date.day, days_of_month(date.year, date.month));
  return to_days(date);
}

} // namespace headrace::graph
