#include "libgraph/expression/kernel/decimal.hpp"
#include "libgraph/expression/kernel/function_kernel.hpp"
#include "libgraph/expression/kernel/rounding.hpp"
#include "libgraph/expression/kernel/time_rounding.hpp"

#include <cmath>
#include <numbers>

namespace headrace::graph {
namespace {

template <double (*F)(double)>
result<kernel> make_real(const kernel_request& request) {
  if (request.arguments.size() != 1 || request.type.root() != type_root::double_)
    return unfit(request);
  return kernel([](kernel_frame& frame) { return map_one<double, double>(frame, F); });
}

double acos(double x) { return std::acos(x); }
double asin(double x) { return std::asin(x); }
double atan(double x) { return std::atan(x); }
double cos(double x) { return std::cos(x); }
double cosh(double x) { return std::cosh(x); }
double cot(double x) { return 1 / std::tan(x); }
double degrees(double x) { return x * (180 / std::numbers::pi); }
double exp(double x) { return std::exp(x); }
double ln(double x) { return std::log(x); }
double log10(double x) { return std::log10(x); }
/// As the quotient of two natural logarithms, to the last digit as Flink has it.
double log2(double x) { return std::log(x) / std::log(2.0); }
double radians(double x) { return x * (std::numbers::pi / 180); }
double sin(double x) { return std::sin(x); }
double sinh(double x) { return std::sinh(x); }
double sqrt(double x) { return std::sqrt(x); }
double tan(double x) { return std::tan(x); }
double tanh(double x) { return std::tanh(x); }

double atan2(double y, double x) { return std::atan2(y, x); }
double power(double x, double y) { return std::pow(x, y); }
double log_of_base(double base, double x) { return std::log(x) / std::log(base); }

double pi() { return std::numbers::pi; }
double e() { return std::numbers::e; }

/// Calls `body` with the C++ type of a number; decimals as int128.
template <class Body>
bool visit_number(type_root root, Body body) {
  switch (root) {
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
  case type_root::decimal:
    body(std::type_identity<int128>());
    return true;
  default:
    return false;
  }
}

/// The least integer stays itself: it has no counterpart.
result<kernel> make_abs(const kernel_request& request) {
  kernel out;
  visit_number(request.type.root(), [&]<class T>(std::type_identity<T>) {
    out = [](kernel_frame& frame) {
      return map_one<T, T>(frame, [](T value) -> T {
        if constexpr (std::is_floating_point_v<T>)
          return std::fabs(value);
        else if constexpr (std::is_same_v<T, int128>)
          return value < 0 ? -value : value;
        else
          return value < 0 ? static_cast<T>(~static_cast<std::uint64_t>(value) + 1) : value;
      });
    };
  });
  if (!out || request.arguments.size() != 1 ||
      request.arguments[0].physical() != request.type.physical())
    return unfit(request);
  return out;
}

/// -1, 0 or 1 in the argument's type; NaN stays.
result<kernel> make_sign(const kernel_request& request) {
  kernel out;
  const auto one = request.type.root() == type_root::decimal
                       ? power_of_ten(std::min(request.type.scale(), decimal_digits_max))
                       : int128{1};
  visit_number(request.type.root(), [&]<class T>(std::type_identity<T>) {
    out = [one = static_cast<T>(one)](kernel_frame& frame) {
      return map_one<T, T>(frame, [one](T value) -> T {
        if constexpr (std::is_floating_point_v<T>)
          if (std::isnan(value))
            return value;
        return value > T{0} ? one : value < T{0} ? static_cast<T>(-one) : T{0};
      });
    };
  });
  if (!out || request.arguments.size() != 1 ||
      request.arguments[0].physical() != request.type.physical())
    return unfit(request);
  return out;
}

/// FLOOR and CEIL of a number; of a time to a unit elsewhere.
template <bool IsUp>
result<kernel> make_whole(const kernel_request& request) {
  if (request.arguments.size() == 2)
    return make_time_rounding(request, IsUp);
  if (request.arguments.size() != 1 || request.arguments[0].physical() != request.type.physical())
    return unfit(request);
  switch (request.type.root()) {
  case type_root::float_:
    return kernel([](kernel_frame& frame) {
      return map_one<float, float>(
          frame, [](float value) { return IsUp ? std::ceil(value) : std::floor(value); });
    });
  case type_root::double_:
    return kernel([](kernel_frame& frame) {
      return map_one<double, double>(
          frame, [](double value) { return IsUp ? std::ceil(value) : std::floor(value); });
    });
  case type_root::decimal:
    return kernel([unit = power_of_ten(request.arguments[0].scale()),
                   limit = power_of_ten(request.type.precision())](kernel_frame& frame) {
      return map_rows<int128, int128>(frame, [&](int128 value) -> std::optional<int128> {
        const auto rest = value % unit;
        auto out = value / unit;
        if (IsUp && rest > 0)
          ++out;
        if (!IsUp && rest < 0)
          --out;
        return out < limit && out > -limit ? std::optional(out) : std::nullopt;
      });
    });
  default:
    if (request.type.root() < type_root::tinyint || request.type.root() > type_root::bigint)
      return unfit(request);
    return kernel([](kernel_frame& frame) { return operand_as_column(frame, 0); });
  }
}

constexpr kernel_entry entries[] = {
    {"ABS", "r", make_abs},
    {"ACOS", "d", make_real<acos>},
    {"ASIN", "d", make_real<asin>},
    {"ATAN", "d", make_real<atan>},
    {"ATAN2", "d", value_of<atan2>},
    {"CEIL", ".", make_whole<true>},
    {"COS", "d", make_real<cos>},
    {"COSH", "d", make_real<cosh>},
    {"COT", "d", make_real<cot>},
    {"DEGREES", "d", make_real<degrees>},
    {"E", "", value_of<e>},
    {"EXP", "d", make_real<exp>},
    {"FLOOR", ".", make_whole<false>},
    {"LN", "d", make_real<ln>},
    {"LOG", "d", value_of<ln, log_of_base>},
    {"LOG10", "d", make_real<log10>},
    {"LOG2", "d", make_real<log2>},
    {"PI", "", value_of<pi>},
    {"POWER", "d", value_of<power>},
    {"RADIANS", "d", make_real<radians>},
    {"ROUND", ".i", make_rounding},
    {"SIGN", "r", make_sign},
    {"SIN", "d", make_real<sin>},
    {"SINH", "d", make_real<sinh>},
    {"SQRT", "d", make_real<sqrt>},
    {"TAN", "d", make_real<tan>},
    {"TANH", "d", make_real<tanh>},
    {"TRUNCATE", ".i", make_rounding},
};

} // namespace

std::span<const kernel_entry> math_kernels() { return entries; }

} // namespace headrace::graph
