#pragma once

#include "libgraph/types/logical_type.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

// Units of times by the calendar. Points in time are milliseconds or nanoseconds since 1970-01-01
// 00:00:00 by the clock that is shown.
namespace headrace::graph {

enum class time_unit : std::uint8_t {
  millennium,
  century,
  decade,
  year,
  iso_year,
  quarter,
  month,
  week,
  day,
  day_of_week,     ///< Sunday is 1
  iso_day_of_week, ///< Monday is 1
  day_of_year,
  hour,
  minute,
  second,
  millisecond, ///< of the minute, as the next two
  microsecond,
  nanosecond,
  epoch, ///< seconds since 1970
};
/// By the word of the grammar: "DAY", "DOW".
std::optional<time_unit> parse_time_unit(std::string_view word);

std::int64_t extract_unit(time_unit unit, int128 nanos);
/// The same of milliseconds, for units of a second and longer.
std::int64_t extract_long_unit(time_unit unit, std::int64_t millis);
/// The last begin of a unit at or before a point; weeks begin on Sunday. Only for units that have
/// one: not for those of a week or year by number, nor below milliseconds.
std::int64_t floor_to_unit(time_unit unit, std::int64_t millis);
bool has_begin(time_unit unit);
/// Moves by whole units.
std::int64_t add_units(time_unit unit, std::int64_t millis, std::int64_t count);
bool can_be_added(time_unit unit);
/// Whole units from one point to another, negative when it lies before.
std::int64_t count_units(time_unit unit, std::int64_t from, std::int64_t to);

} // namespace headrace::graph
