#include "libgraph/expression/kernel/calendar.hpp"
#include "libgraph/expression/kernel/map.hpp"
#include "libgraph/expression/kernel/time_rounding.hpp"
#include "libgraph/expression/kernel/time_unit.hpp"
#include "libgraph/expression/kernel/time_zone.hpp"

#include <limits>

// Parts of times, and times by units of the calendar.
namespace headrace::graph {
namespace {

/// The unit that a constant argument names.
result<time_unit> unit_of(const kernel_request& request, std::size_t argument) {
  const auto& word = request.constants[argument];
  if (word == nullptr || word->type().physical() != physical_type::string)
    return unfit(request);
  const auto unit = parse_time_unit(word->string_at(0));
  if (!unit)
    return error(errc::type_mismatch, "no unit of time: " + std::string(word->string_at(0)));
  return *unit;
}

error no_such_unit(const kernel_request& request) {
  return {errc::type_mismatch, std::string(request.function) + " does not take this unit for " +
                                   request.type.nullable().to_sql()};
}

column_ptr extract_from_points(kernel_frame& frame, time_unit unit) {
  return map_rows<std::int64_t, int128>(frame,
                                        [&](int128 nanos) { return extract_unit(unit, nanos); });
}

/// Parts of an interval: what is left of it by the next larger unit.
result<kernel> extract_from_interval(const kernel_request& request, time_unit unit) {
  if (request.arguments[1].root() == type_root::interval_year_month) {
    if (unit != time_unit::year && unit != time_unit::month && unit != time_unit::quarter)
      return no_such_unit(request);
    return kernel([unit](kernel_frame& frame) {
      frame.arguments = frame.arguments.subspan(1);
      return map_rows<std::int64_t, std::int32_t>(frame, [&](std::int32_t months) -> std::int64_t {
        if (unit == time_unit::year)
          return months / 12;
        return unit == time_unit::month ? months % 12 : months % 12 / 3 + 1;
      });
    });
  }
  std::int64_t length = 1;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  switch (unit) {
  case time_unit::day:
    length = millis_per_day;
    break;
  case time_unit::hour:
    length = 3'600'000;
    most = 24;
    break;
  case time_unit::minute:
    length = 60'000;
    most = 60;
    break;
  case time_unit::second:
    length = 1'000;
    most = 60;
    break;
  case time_unit::millisecond:
    most = 60'000;
    break;
  case time_unit::epoch:
    length = 1'000;
    break;
  default:
    return no_such_unit(request);
  }
  return kernel([length, most](kernel_frame& frame) {
    frame.arguments = frame.arguments.subspan(1);
    return map_rows<std::int64_t, std::int64_t>(
        frame, [&](std::int64_t millis) { return millis / length % most; });
  });
}

result<kernel> make_extract(const kernel_request& request) {
  if (request.arguments.size() != 2)
    return unfit(request);
  HEADRACE_TRY(const auto unit, unit_of(request, 0));
  const auto root = request.arguments[1].root();
  if (root == type_root::interval_year_month || root == type_root::interval_day_time)
    return extract_from_interval(request, unit);
  if (request.arguments[1].physical() != physical_type::timestamp_nanos)
    return unfit(request);
  return kernel([unit](kernel_frame& frame) {
    frame.arguments = frame.arguments.subspan(1);
    return extract_from_points(frame, unit);
  });
}

template <time_unit Unit>
result<kernel> make_part(const kernel_request& request) {
  if (request.arguments.size() != 1 || request.arguments[0].root() != type_root::timestamp ||
      request.arguments[0].physical() != physical_type::int64)
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    return map_one<std::int64_t, std::int64_t>(
        frame, [](std::int64_t millis) { return extract_long_unit(Unit, millis); });
  });
}

/// Reads points of a type as milliseconds by the clock that is shown, and writes them back.
class clock_points {
public:
  clock_points(const logical_type& type, std::shared_ptr<const time_zone> zone)
      : root_(type.root()), is_fine_(type.physical() == physical_type::timestamp_nanos),
        zone_(type.root() == type_root::timestamp_ltz ? std::move(zone) : nullptr) {}

  template <class T>
  std::int64_t read(T value) const {
    std::int64_t millis = 0;
    if (root_ == type_root::date)
      return static_cast<std::int64_t>(value) * millis_per_day;
    if (is_fine_)
      millis = static_cast<std::int64_t>((value - rest_of(value)) / nanos_per_milli);
    else
      millis = static_cast<std::int64_t>(value);
    return zone_ ? zone_->local_millis(millis) : millis;
  }
  /// `rest`: nanoseconds behind the milliseconds.
  template <class T>
  T write(std::int64_t millis, T rest) const {
    if (root_ == type_root::date)
      return static_cast<T>(floor_divide(millis, millis_per_day));
    if (root_ == type_root::time)
      return static_cast<T>(millis); // CEIL may give 24:00:00
    if (zone_)
      millis = zone_->utc_millis(millis);
    return is_fine_ ? static_cast<T>(static_cast<T>(millis) * nanos_per_milli + rest)
                    : static_cast<T>(millis);
  }
  template <class T>
  T rest_of(T value) const {
    if (!is_fine_)
      return 0;
    const auto rest = value % nanos_per_milli;
    return static_cast<T>(rest < 0 ? rest + nanos_per_milli : rest);
  }

private:
  type_root root_;
  bool is_fine_;
  std::shared_ptr<const time_zone> zone_;
};

/// Calls `body` with the C++ type of a DATE, TIME or timestamp.
template <class Body>
bool visit_time(const logical_type& type, Body body) {
  if (type.root() < type_root::date || type.root() > type_root::timestamp_ltz)
    return false;
  switch (type.physical()) {
  case physical_type::int32:
    body(std::type_identity<std::int32_t>());
    return true;
  case physical_type::int64:
    body(std::type_identity<std::int64_t>());
    return true;
  default:
    body(std::type_identity<int128>());
    return true;
  }
}

result<kernel> make_timestamp_add(const kernel_request& request) {
  if (request.arguments.size() != 3 || request.arguments[1].root() != type_root::bigint ||
      !(request.arguments[2].nullable() == request.type.nullable()))
    return unfit(request);
  HEADRACE_TRY(const auto unit, unit_of(request, 0));
  if (!can_be_added(unit))
    return no_such_unit(request);
  kernel out;
  visit_time(request.type, [&]<class T>(std::type_identity<T>) {
    out = [unit, points = clock_points(request.type, request.zone)](kernel_frame& frame) {
      frame.arguments = frame.arguments.subspan(1);
      return map_rows<T, std::int64_t, T>(frame, [&](std::int64_t count, T time) -> T {
        return points.write<T>(add_units(unit, points.read(time), count), points.rest_of(time));
      });
    };
  });
  if (!out)
    return unfit(request);
  return out;
}

result<kernel> make_timestamp_diff(const kernel_request& request) {
  if (request.arguments.size() != 3 || request.type.root() != type_root::integer ||
      request.arguments[1].physical() != physical_type::int64 ||
      request.arguments[2].physical() != physical_type::int64)
    return unfit(request);
  HEADRACE_TRY(const auto unit, unit_of(request, 0));
  if (!can_be_added(unit))
    return no_such_unit(request);
  return kernel([unit](kernel_frame& frame) {
    frame.arguments = frame.arguments.subspan(1);
    return map_rows<std::int32_t, std::int64_t, std::int64_t>(
        frame, [&](std::int64_t from, std::int64_t to) {
          return static_cast<std::int32_t>(count_units(unit, from, to));
        });
  });
}

constexpr kernel_entry entries[] = {
    {"EXTRACT", "sf", make_extract},
    {"YEAR", "t", make_part<time_unit::year>},
    {"QUARTER", "t", make_part<time_unit::quarter>},
    {"MONTH", "t", make_part<time_unit::month>},
    {"WEEK", "t", make_part<time_unit::week>},
    {"DAYOFYEAR", "t", make_part<time_unit::day_of_year>},
    {"DAYOFMONTH", "t", make_part<time_unit::day>},
    {"DAYOFWEEK", "t", make_part<time_unit::day_of_week>},
    {"HOUR", "t", make_part<time_unit::hour>},
    {"MINUTE", "t", make_part<time_unit::minute>},
    {"SECOND", "t", make_part<time_unit::second>},
    {"TIMESTAMPADD", "slr", make_timestamp_add},
    {"TIMESTAMPDIFF", "st", make_timestamp_diff},
};

} // namespace

result<kernel> make_time_rounding(const kernel_request& request, bool is_up) {
  if (request.arguments.size() != 2 ||
      !(request.arguments[0].nullable() == request.type.nullable()))
    return unfit(request);
  HEADRACE_TRY(const auto unit, unit_of(request, 1));
  if (!has_begin(unit))
    return no_such_unit(request);
  kernel out;
  visit_time(request.type, [&]<class T>(std::type_identity<T>) {
    out = [unit, is_up, points = clock_points(request.type, request.zone)](kernel_frame& frame) {
      frame.arguments = frame.arguments.first(1);
      return map_rows<T, T>(frame, [&](T value) -> T {
        const auto millis = points.read(value);
        auto begin = floor_to_unit(unit, millis);
        if (is_up && (begin != millis || points.rest_of(value) != 0))
          begin = add_units(unit, begin, 1);
        return points.write<T>(begin, T{0});
      });
    };
  });
  if (!out)
    return unfit(request);
  return out;
}

std::span<const kernel_entry> time_part_kernels() { return entries; }

} // namespace headrace::graph
