#include "libgraph/expression/kernel/time_arithmetic.hpp"

#include "libgraph/expression/kernel/calendar.hpp"
#include "libgraph/expression/kernel/map.hpp"

#include <type_traits>

namespace headrace::graph {
namespace {

bool is_interval(const logical_type& type) {
  return type.root() == type_root::interval_year_month ||
         type.root() == type_root::interval_day_time;
}

/// A point in time in units of `per_day` to the day, moved by months.
template <class T>
T move_by_months(T value, std::int64_t months, std::int64_t per_day) {
  const auto of_day = static_cast<std::int64_t>(((value % per_day) + per_day) % per_day);
  const auto days = static_cast<std::int64_t>((value - of_day) / per_day);
  return static_cast<T>(static_cast<T>(add_months(days, months)) * per_day + of_day);
}

/// A time and an interval; `sign` is -1 for a difference.
template <class T, class Interval, class Move>
kernel moving(bool interval_first, std::int64_t sign, Move move) {
  return [interval_first, sign, move](kernel_frame& frame) {
    const operand ordered[] = {frame.arguments[interval_first ? 1 : 0],
                               frame.arguments[interval_first ? 0 : 1]};
    frame.arguments = ordered;
    auto out = map_rows<T, T, Interval>(frame, [&](T time, Interval by) -> T {
      return move(time, sign * static_cast<std::int64_t>(by));
    });
    frame.arguments = {};
    return out;
  };
}

template <class T>
result<kernel> move_time(const kernel_request& request, bool interval_first, std::int64_t sign) {
  const auto& time = request.arguments[interval_first ? 1 : 0];
  const bool by_months =
      request.arguments[interval_first ? 0 : 1].root() == type_root::interval_year_month;
  const auto make = [&](auto move) -> kernel {
    return by_months ? moving<T, std::int32_t>(interval_first, sign, move)
                     : moving<T, std::int64_t>(interval_first, sign, move);
  };
  switch (time.root()) {
  case type_root::date:
    if (by_months)
      return make([](T days, std::int64_t by) {
        return static_cast<T>(add_months(static_cast<std::int64_t>(days), by));
      });
    return make([](T days, std::int64_t by) { return static_cast<T>(days + by / millis_per_day); });
  case type_root::time:
    if (by_months)
      return make([](T millis, std::int64_t) { return millis; });
    return make([](T millis, std::int64_t by) {
      return static_cast<T>(
          floor_modulo(static_cast<std::int64_t>(millis) + by % millis_per_day, millis_per_day));
    });
  default: {
    const auto unit = std::is_same_v<T, int128> ? nanos_per_milli : 1;
    if (by_months)
      return make([unit](T value, std::int64_t by) {
        return move_by_months(value, by, millis_per_day * unit);
      });
    return make([unit](T value, std::int64_t by) {
      return static_cast<T>(value + static_cast<T>(by) * unit);
    });
  }
  }
}

/// A number of either sign times an interval, or an interval by a number; both are of the
/// interval's width.
template <class T>
result<kernel> scale_interval(const kernel_request& request) {
  if (request.function == "*")
    return kernel([](kernel_frame& frame) {
      return map_rows<T, T, T>(frame, [](T left, T right) -> T {
        return static_cast<T>(static_cast<std::uint64_t>(left) * static_cast<std::uint64_t>(right));
      });
    });
  return kernel([](kernel_frame& frame) {
    return map_rows<T, T, T>(frame, [&](T left, T right) -> T {
      if (right == 0) {
        frame.fail("division by zero");
        return 0;
      }
      return right == -1 ? static_cast<T>(~static_cast<std::uint64_t>(left) + 1)
                         : static_cast<T>(left / right);
    });
  });
}

template <class T>
result<kernel> add_intervals(const kernel_request& request) {
  const bool is_difference = request.function == "-";
  return kernel([is_difference](kernel_frame& frame) {
    return map_rows<T, T, T>(frame, [&](T left, T right) -> T {
      const auto one = static_cast<std::uint64_t>(left);
      const auto other = static_cast<std::uint64_t>(right);
      return static_cast<T>(is_difference ? one - other : one + other);
    });
  });
}

template <class T>
result<kernel> make_interval(const kernel_request& request) {
  if (request.function == "*" || request.function == "/")
    return scale_interval<T>(request);
  return add_intervals<T>(request);
}

} // namespace

result<kernel> make_time_arithmetic(const kernel_request& request) {
  if (request.arguments.size() != 2)
    return unfit(request);
  if (is_interval(request.type)) {
    if (request.arguments[0].physical() != request.type.physical() ||
        request.arguments[1].physical() != request.type.physical())
      return unfit(request);
    return request.type.physical() == physical_type::int32 ? make_interval<std::int32_t>(request)
                                                           : make_interval<std::int64_t>(request);
  }
  const bool interval_first = is_interval(request.arguments[0]);
  if (is_interval(request.arguments[1]) == interval_first ||
      (request.function != "+" && request.function != "-"))
    return unfit(request);
  const std::int64_t sign = request.function == "-" ? -1 : 1;
  switch (request.type.root()) {
  case type_root::date:
  case type_root::time:
    return move_time<std::int32_t>(request, interval_first, sign);
  case type_root::timestamp:
  case type_root::timestamp_ltz:
    return request.type.physical() == physical_type::int64
               ? move_time<std::int64_t>(request, interval_first, sign)
               : move_time<int128>(request, interval_first, sign);
  default:
    return unfit(request);
  }
}

} // namespace headrace::graph
