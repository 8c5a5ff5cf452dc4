#include "libgraph/expression/kernel/decimal.hpp"

#include "libgraph/types/value_text.hpp"

#include <boost/multiprecision/cpp_int.hpp>

#include <charconv>
#include <cmath>
#include <string>

namespace headrace::graph {
namespace {

/// Holds the product of two decimals moved by 38 digits.
using wide = boost::multiprecision::int512_t;

wide widen(int128 value) {
  const bool is_negative = value < 0;
  __extension__ using uint128 = unsigned __int128;
  const auto magnitude =
      is_negative ? ~static_cast<uint128>(value) + 1 : static_cast<uint128>(value);
  wide out = static_cast<std::uint64_t>(magnitude >> 64U);
  out <<= 64;
  out += static_cast<std::uint64_t>(magnitude);
  return is_negative ? wide(-out) : out;
}

wide wide_power(int exponent) {
  wide out = 1;
  for (; exponent > 0; exponent -= std::min(exponent, decimal_digits_max))
    out *= widen(power_of_ten(std::min(exponent, decimal_digits_max)));
  return out;
}

std::optional<int128> narrow(const wide& value, int precision) {
  const wide limit = widen(power_of_ten(precision));
  if (value >= limit || value <= -limit)
    return std::nullopt;
  const wide magnitude = value < 0 ? wide(-value) : value;
  const wide low_part = magnitude & ~std::uint64_t{0};
  const wide high_part = magnitude >> 64;
  const auto low = low_part.convert_to<std::uint64_t>();
  const auto high = high_part.convert_to<std::uint64_t>();
  const auto out = static_cast<int128>(high) << 64U | static_cast<int128>(low);
  return value < 0 ? -out : out;
}

wide divide_half_up(const wide& value, const wide& divisor) {
  const bool is_negative = (value < 0) != (divisor < 0);
  const wide above = value < 0 ? wide(-value) : value;
  const wide below = divisor < 0 ? wide(-divisor) : divisor;
  const wide out = (above * 2 + below) / (below * 2);
  return is_negative ? wide(-out) : out;
}

wide move_point(const wide& value, int from, int to) {
  if (to >= from)
    return value * wide_power(to - from);
  return divide_half_up(value, wide_power(from - to));
}

std::optional<int128> checked(int128 value, int precision) {
  return fits_precision(value, precision) ? std::optional(value) : std::nullopt;
}

} // namespace

std::optional<int128> rescale_decimal(int128 value, int from, int to, int precision) {
  if (to < from)
    return from - to > decimal_digits_max
               ? std::optional<int128>(0)
               : checked(divide_half_up(value, power_of_ten(from - to)), precision);
  int128 out = 0;
  if (to - from > decimal_digits_max)
    return value == 0 ? std::optional<int128>(0) : std::nullopt;
  if (__builtin_mul_overflow(value, power_of_ten(to - from), &out))
    return std::nullopt;
  return checked(out, precision);
}

std::optional<int128> add_decimals(int128 left, int128 right, const decimal_scales& scales) {
  const int common = std::max(scales.left, scales.right);
  int128 one = 0;
  int128 other = 0;
  int128 sum = 0;
  if (!__builtin_mul_overflow(left, power_of_ten(common - scales.left), &one) &&
      !__builtin_mul_overflow(right, power_of_ten(common - scales.right), &other) &&
      !__builtin_add_overflow(one, other, &sum)) [[likely]]
    return rescale_decimal(sum, common, scales.result, scales.precision);
  const wide exact =
      move_point(widen(left), scales.left, common) + move_point(widen(right), scales.right, common);
  return narrow(move_point(exact, common, scales.result), scales.precision);
}

std::optional<int128> multiply_decimals(int128 left, int128 right, const decimal_scales& scales) {
  const int exact = scales.left + scales.right;
  int128 product = 0;
  if (!__builtin_mul_overflow(left, right, &product)) [[likely]]
    return rescale_decimal(product, exact, scales.result, scales.precision);
  return narrow(move_point(widen(left) * widen(right), exact, scales.result), scales.precision);
}

std::optional<int128> divide_decimals(int128 left, int128 right, const decimal_scales& scales) {
  const int shift = scales.result - scales.left + scales.right;
  int128 above = 0;
  const bool is_small = shift >= 0 && shift <= decimal_digits_max &&
                        !__builtin_mul_overflow(left, power_of_ten(shift), &above);
  if (is_small) [[likely]] {
    const bool is_negative = right < 0;
    return checked(divide_half_up(is_negative ? -above : above, is_negative ? -right : right),
                   scales.precision);
  }
  if (shift >= 0)
    return narrow(divide_half_up(widen(left) * wide_power(shift), widen(right)), scales.precision);
  return narrow(divide_half_up(widen(left), widen(right) * wide_power(-shift)), scales.precision);
}

std::optional<int128> modulo_decimals(int128 left, int128 right, const decimal_scales& scales) {
  const int common = std::max(scales.left, scales.right);
  const wide rest =
      move_point(widen(left), scales.left, common) % move_point(widen(right), scales.right, common);
  return narrow(move_point(rest, common, scales.result), scales.precision);
}

double decimal_to_double(int128 value, int scale) {
  constexpr std::int64_t exact_max = std::int64_t{1} << 53U;
  constexpr int exact_power_max = 22;
  // Both are exact as doubles, so one division rounds once.
  if (value >= -exact_max && value <= exact_max && scale <= exact_power_max)
    return static_cast<double>(value) / static_cast<double>(power_of_ten(scale));
  std::string text;
  append_decimal(value, scale, text);
  return parse_double(text).value_or(0);
}

std::optional<int128> double_to_decimal(double value, int precision, int scale) {
  if (!std::isfinite(value))
    return std::nullopt;
  // By its shortest text, as Java's BigDecimal.valueOf does.
  char text[32];
  const auto end = std::to_chars(std::begin(text), std::end(text), value).ptr;
  return parse_decimal({text, static_cast<std::size_t>(end - text)}, precision, scale);
}

} // namespace headrace::graph
