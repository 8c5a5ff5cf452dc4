#include "libgraph/expression/kernel/calendar.hpp"
#include "libgraph/expression/kernel/cast.hpp"
#include "libgraph/expression/kernel/map.hpp"
#include "libgraph/expression/kernel/time_zone.hpp"

namespace headrace::graph {
namespace {

/// A point in time: milliseconds since 1970, and nanoseconds behind them.
struct fine_point {
  std::int64_t millis = 0;
  std::int64_t nanos = 0;
};

template <class T>
fine_point take_point(T value, type_root root) {
  if (root == type_root::date)
    return {static_cast<std::int64_t>(value) * millis_per_day, 0};
  if constexpr (std::is_same_v<T, int128>) {
    auto millis = static_cast<std::int64_t>(value / nanos_per_milli);
    auto nanos = static_cast<std::int64_t>(value % nanos_per_milli);
    if (nanos < 0) {
      nanos += nanos_per_milli;
      --millis;
    }
    return {millis, nanos};
  } else {
    return {static_cast<std::int64_t>(value), 0};
  }
}

/// 10^(digits that are cut), of milliseconds or nanoseconds.
std::int64_t unit_of(int precision, int digits) {
  std::int64_t out = 1;
  for (int i = precision; i < digits; ++i)
    out *= 10;
  return out;
}

template <class T>
T put_point(fine_point point, const logical_type& type, std::int64_t unit) {
  if (type.root() == type_root::date)
    return static_cast<T>(floor_divide(point.millis, millis_per_day));
  if (type.root() == type_root::time)
    return static_cast<T>(floor_modulo(point.millis, millis_per_day));
  if constexpr (std::is_same_v<T, int128>) {
    const auto nanos = int128{point.millis} * nanos_per_milli + point.nanos;
    const auto rest = nanos % unit;
    return nanos - (rest < 0 ? rest + unit : rest);
  } else {
    return static_cast<T>(point.millis - floor_modulo(point.millis, unit));
  }
}

enum class shift : std::uint8_t { none, to_local, to_utc };

template <class To, class From>
kernel converting(const kernel_request& request, shift by) {
  const auto root = request.arguments[0].root();
  const auto unit = unit_of(request.type.precision(), std::is_same_v<To, int128> ? 9 : 3);
  return [root, unit, by, zone = request.zone](kernel_frame& frame) {
    return map_rows<To, From>(frame, [&](From value) -> To {
      auto point = take_point(value, root);
      if (by == shift::to_local)
        point.millis = zone->local_millis(point.millis);
      else if (by == shift::to_utc)
        point.millis = zone->utc_millis(point.millis);
      return put_point<To>(point, frame.type, unit);
    });
  };
}

template <class To>
kernel converting_from(const kernel_request& request, shift by) {
  switch (request.arguments[0].physical()) {
  case physical_type::int32:
    return converting<To, std::int32_t>(request, by);
  case physical_type::int64:
    return converting<To, std::int64_t>(request, by);
  default:
    return converting<To, int128>(request, by);
  }
}

} // namespace

result<kernel> make_time_cast(const kernel_request& request) {
  const auto from = request.arguments[0].root();
  const auto to = request.type.root();
  if ((from == type_root::date && to == type_root::time) ||
      (from == type_root::time && to == type_root::date))
    return unfit(request);
  auto by = shift::none;
  const bool is_instant = from == type_root::timestamp_ltz;
  if (is_instant != (to == type_root::timestamp_ltz))
    by = is_instant ? shift::to_local : shift::to_utc;
  switch (request.type.physical()) {
  case physical_type::int32:
    return converting_from<std::int32_t>(request, by);
  case physical_type::int64:
    return converting_from<std::int64_t>(request, by);
  default:
    return converting_from<int128>(request, by);
  }
}

} // namespace headrace::graph
