#include "libgraph/expression/kernel/cast.hpp"
#include "libgraph/expression/kernel/decimal.hpp"
#include "libgraph/expression/kernel/map.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

namespace headrace::graph {
namespace {

/// Calls `body` with the C++ type of a number or BOOLEAN (bool) that is no decimal.
template <class Body>
bool visit_plain(type_root root, Body body) {
  switch (root) {
  case type_root::boolean:
    body(std::type_identity<bool>());
    return true;
  case type_root::tinyint:
    body(std::type_identity<std::int8_t>());
    return true;
  case type_root::smallint:
    body(std::type_identity<std::int16_t>());
    return true;
  case type_root::integer:
    body(std::type_identity<std::int32_t>());
    return true;
  case type_root::bigint:
    body(std::type_identity<std::int64_t>());
    return true;
  case type_root::float_:
    body(std::type_identity<float>());
    return true;
  case type_root::double_:
    body(std::type_identity<double>());
    return true;
  default:
    return false;
  }
}

template <class T>
using stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

/// Java's: NaN is 0, what is beyond the range its end.
template <class To>
To saturate(double value) {
  if (std::isnan(value))
    return 0;
  if (value >= static_cast<double>(std::numeric_limits<To>::max()))
    return std::numeric_limits<To>::max();
  if (value <= static_cast<double>(std::numeric_limits<To>::min()))
    return std::numeric_limits<To>::min();
  return static_cast<To>(value);
}

/// Java's narrowing: integers lose high bits, fractions are cut.
template <class To, class From>
stored<To> convert(From value) {
  if constexpr (std::is_same_v<To, bool>)
    return static_cast<std::uint8_t>(value != From{0});
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if constexpr (sizeof(To) == sizeof(std::int64_t))
      return saturate<std::int64_t>(static_cast<double>(value));
    else
      return static_cast<To>(saturate<std::int32_t>(static_cast<double>(value)));
  } else
    return static_cast<To>(value);
}

kernel from_decimal(const kernel_request& request) {
  const int scale = request.arguments[0].scale();
  kernel out;
  visit_plain(request.type.root(), [&]<class To>(std::type_identity<To>) {
    out = [scale](kernel_frame& frame) {
      if constexpr (std::is_floating_point_v<To>)
        return map_rows<To, int128>(
            frame, [&](int128 value) { return static_cast<To>(decimal_to_double(value, scale)); });
      else
        return map_one<stored<To>, int128>(frame, [&](int128 value) {
          if constexpr (std::is_same_v<To, bool>)
            return static_cast<std::uint8_t>(value != 0);
          else
            return static_cast<To>(value / power_of_ten(scale));
        });
    };
  });
  return out;
}

kernel to_decimal(const kernel_request& request) {
  const int precision = request.type.precision();
  const int scale = request.type.scale();
  kernel out;
  visit_plain(request.arguments[0].root(), [&]<class From>(std::type_identity<From>) {
    if constexpr (std::is_floating_point_v<From>) {
      out = [=](kernel_frame& frame) {
        return map_rows<int128, From>(frame, [&](From value) {
          return double_to_decimal(static_cast<double>(value), precision, scale);
        });
      };
    } else if (precision - scale >= std::numeric_limits<From>::digits10 + 1) {
      out = [factor = power_of_ten(scale)](kernel_frame& frame) {
        return map_one<int128, stored<From>>(
            frame, [&](stored<From> value) { return int128{value} * factor; });
      };
    } else {
      out = [=](kernel_frame& frame) {
        return map_rows<int128, stored<From>>(
            frame, [&](stored<From> value) { return rescale_decimal(value, 0, scale, precision); });
      };
    }
  });
  return out;
}

kernel between_decimals(const kernel_request& request) {
  const int from = request.arguments[0].scale();
  const int to = request.type.scale();
  const int precision = request.type.precision();
  return [=](kernel_frame& frame) {
    return map_rows<int128, int128>(
        frame, [&](int128 value) { return rescale_decimal(value, from, to, precision); });
  };
}

} // namespace

result<kernel> make_number_cast(const kernel_request& request) {
  const bool is_from_decimal = request.arguments[0].root() == type_root::decimal;
  const bool is_to_decimal = request.type.root() == type_root::decimal;
  if (is_from_decimal)
    return is_to_decimal ? between_decimals(request) : from_decimal(request);
  if (is_to_decimal)
    return to_decimal(request);
  kernel out;
  visit_plain(request.type.root(), [&]<class To>(std::type_identity<To>) {
    visit_plain(request.arguments[0].root(), [&]<class From>(std::type_identity<From>) {
      out = [](kernel_frame& frame) {
        return map_one<stored<To>, stored<From>>(
            frame, [](stored<From> value) { return convert<To>(value); });
      };
    });
  });
  return out;
}

} // namespace headrace::graph
