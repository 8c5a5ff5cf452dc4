#include "libgraph/expression/kernel/rounding.hpp"

#include "libgraph/expression/kernel/decimal.hpp"
#include "libgraph/expression/kernel/map.hpp"

#include <cmath>

namespace headrace::graph {
namespace {

/// Rounds what has no digits behind the point; `digits` is below 0.
int128 round_whole(int128 value, std::int32_t digits, bool is_cut) {
  if (digits < -decimal_digits_max)
    return 0;
  const auto unit = power_of_ten(-digits);
  const auto whole = is_cut ? value / unit : divide_half_up(value, unit);
  return whole * unit;
}

/// Moves the point of an unscaled value to `digits` behind it, then to `to`.
std::optional<int128> round_decimal(int128 value, int scale, std::int32_t digits, int to,
                                    int precision, bool is_cut) {
  const auto kept = std::max(std::min<int>(digits, scale), scale - decimal_digits_max);
  if (kept < scale) {
    const auto unit = power_of_ten(scale - kept);
    const auto whole = is_cut ? value / unit : divide_half_up(value, unit);
    if (__builtin_mul_overflow(whole, unit, &value))
      return std::nullopt;
  }
  return rescale_decimal(value, scale, to, precision);
}

/// By the shortest decimal text of the value, as Java's BigDecimal does.
double round_real(double value, std::int32_t digits, bool is_cut) {
  constexpr double all_whole = 9007199254740992; // 2^53: no digits behind the point
  if (!std::isfinite(value) || (digits >= 0 && std::fabs(value) >= all_whole))
    return value;
  if (digits < 0) {
    if (std::fabs(value) >= 1e37)
      return value;
    return static_cast<double>(round_whole(static_cast<int128>(value), digits, is_cut));
  }
  // As many digits behind the point as a text of the value has.
  constexpr int scale = 20;
  const auto exact = double_to_decimal(value, decimal_digits_max, scale);
  if (digits >= scale || !exact)
    return value;
  const auto rounded = round_decimal(*exact, scale, digits, scale, decimal_digits_max, is_cut);
  return rounded ? decimal_to_double(*rounded, scale) : value;
}

template <class T, class Round>
kernel rounding(const kernel_request& request, Round round) {
  if (request.arguments.size() == 1)
    return [round](kernel_frame& frame) {
      return map_rows<T, T>(frame, [&](T value) { return round(value, 0); });
    };
  return [round](kernel_frame& frame) {
    return map_rows<T, T, std::int32_t>(
        frame, [&](T value, std::int32_t digits) { return round(value, digits); });
  };
}

template <class T>
kernel rounding_integers(const kernel_request& request, bool is_cut) {
  return rounding<T>(request, [is_cut](T value, std::int32_t digits) -> T {
    return digits >= 0 ? value : static_cast<T>(round_whole(value, digits, is_cut));
  });
}

} // namespace

result<kernel> make_rounding(const kernel_request& request) {
  const bool is_cut = request.function == "TRUNCATE";
  if (request.arguments.empty() || request.arguments.size() > 2 ||
      request.arguments[0].root() != request.type.root())
    return unfit(request);
  switch (request.type.root()) {
  case type_root::tinyint:
    return rounding_integers<std::int8_t>(request, is_cut);
  case type_root::smallint:
    return rounding_integers<std::int16_t>(request, is_cut);
  case type_root::integer:
    return rounding_integers<std::int32_t>(request, is_cut);
  case type_root::bigint:
    return rounding_integers<std::int64_t>(request, is_cut);
  case type_root::float_:
    return rounding<float>(request, [is_cut](float value, std::int32_t digits) {
      return static_cast<float>(round_real(static_cast<double>(value), digits, is_cut));
    });
  case type_root::double_:
    return rounding<double>(request, [is_cut](double value, std::int32_t digits) {
      return round_real(value, digits, is_cut);
    });
  case type_root::decimal:
    return rounding<int128>(
        request, [is_cut, from = request.arguments[0].scale(), to = request.type.scale(),
                  precision = request.type.precision()](int128 value, std::int32_t digits) {
          return round_decimal(value, from, digits, to, precision, is_cut);
        });
  default:
    return unfit(request);
  }
}

} // namespace headrace::graph
