#pragma once

#include "libgraph/types/logical_type.hpp"

#include <array>
#include <optional>

// Arithmetic of decimals as unscaled 128-bit values. What does not fit the result's digits is
// nothing, what is cut off is rounded half up (away from zero).
namespace headrace::graph {

inline constexpr int decimal_digits_max = 38;

namespace detail {
constexpr std::array<int128, decimal_digits_max + 1> make_powers_of_ten() {
  std::array<int128, decimal_digits_max + 1> out{};
  int128 value = 1;
  for (auto& each : out) {
    each = value;
    value = &each == &out.back() ? value : value * 10;
  }
  return out;
}
inline constexpr auto powers_of_ten = make_powers_of_ten();
} // namespace detail

/// 10^exponent, for 0 to 38.
constexpr int128 power_of_ten(int exponent) {
  return detail::powers_of_ten[static_cast<std::size_t>(exponent)];
}

constexpr bool fits_precision(int128 value, int precision) {
  return value < power_of_ten(precision) && value > -power_of_ten(precision);
}

/// value / divisor, rounded half up. `divisor` is positive.
constexpr int128 divide_half_up(int128 value, int128 divisor) {
  const auto whole = value / divisor;
  const auto rest = value % divisor;
  const auto magnitude = rest < 0 ? -rest : rest;
  if (magnitude >= divisor - magnitude)
    return value < 0 ? whole - 1 : whole + 1;
  return whole;
}

/// Moves the point from `from` to `to` digits behind it.
std::optional<int128> rescale_decimal(int128 value, int from, int to, int precision);

/// Digits behind the point of both operands and of the result, and the result's digits.
struct decimal_scales {
  int left = 0;
  int right = 0;
  int result = 0;
  int precision = decimal_digits_max;
};
std::optional<int128> add_decimals(int128 left, int128 right, const decimal_scales& scales);
std::optional<int128> multiply_decimals(int128 left, int128 right, const decimal_scales& scales);
/// `right` is not zero in these.
std::optional<int128> divide_decimals(int128 left, int128 right, const decimal_scales& scales);
std::optional<int128> modulo_decimals(int128 left, int128 right, const decimal_scales& scales);

/// The double nearest to a decimal, and the decimal of a double; nothing when it does not fit.
double decimal_to_double(int128 value, int scale);
std::optional<int128> double_to_decimal(double value, int precision, int scale);

} // namespace headrace::graph
