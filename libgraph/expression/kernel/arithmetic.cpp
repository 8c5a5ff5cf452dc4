#include "libgraph/expression/kernel/decimal.hpp"
#include "libgraph/expression/kernel/map.hpp"
#include "libgraph/expression/kernel/time_arithmetic.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

// + - * / % and signs. Integers wrap around, as Java's do; their division by zero fails the job.
namespace headrace::graph {
namespace {

/// Integers are computed without a sign: that wraps.
template <class T, class Function>
T wrapping(T left, T right, Function f) {
  if constexpr (std::is_integral_v<T>) {
    using computed = std::make_unsigned_t<std::common_type_t<T, int>>;
    return static_cast<T>(f(static_cast<computed>(left), static_cast<computed>(right)));
  } else {
    return f(left, right);
  }
}

struct plus {
  template <class T>
  static T of(T left, T right) {
    return wrapping(left, right, [](auto a, auto b) { return a + b; });
  }
  static constexpr auto of_decimals = add_decimals;
};
struct minus {
  template <class T>
  static T of(T left, T right) {
    return wrapping(left, right, [](auto a, auto b) { return a - b; });
  }
  static std::optional<int128> of_decimals(int128 left, int128 right,
                                           const decimal_scales& scales) {
    return add_decimals(left, -right, scales);
  }
};
struct times {
  template <class T>
  static T of(T left, T right) {
    return wrapping(left, right, [](auto a, auto b) { return a * b; });
  }
  static constexpr auto of_decimals = multiply_decimals;
};

/// Calls `body` with the C++ type of a number that is no decimal.
template <class Body>
bool visit_plain_number(type_root root, Body body) {
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
  default:
    return false;
  }
}

bool are_decimals(const kernel_request& request) {
  return request.type.root() == type_root::decimal && request.arguments.size() == 2 &&
         request.arguments[0].root() == type_root::decimal &&
         request.arguments[1].root() == type_root::decimal;
}

decimal_scales scales_of(const kernel_request& request) {
  return {request.arguments[0].scale(), request.arguments[1].scale(), request.type.scale(),
          request.type.precision()};
}

/// Whether every result fits in its digits, none of them cut: the type was not bounded.
template <class Operator>
bool is_always_exact(const kernel_request& request) {
  const auto& left = request.arguments[0];
  const auto& right = request.arguments[1];
  if constexpr (std::is_same_v<Operator, times>)
    return left.precision() + right.precision() <= decimal_digits_max &&
           left.precision() + right.precision() <= request.type.precision() &&
           request.type.scale() == left.scale() + right.scale();
  const int scale = std::max(left.scale(), right.scale());
  const int whole = std::max(left.precision() - left.scale(), right.precision() - right.scale());
  return whole + scale + 1 <= request.type.precision() && request.type.scale() == scale;
}

template <class Operator>
kernel decimal_kernel(const kernel_request& request) {
  const auto scales = scales_of(request);
  if (!is_always_exact<Operator>(request))
    return [scales](kernel_frame& frame) {
      return map_rows<int128, int128, int128>(frame, [&](int128 left, int128 right) {
        return Operator::of_decimals(left, right, scales);
      });
    };
  __extension__ using uint128 = unsigned __int128; // wraps for what lies in rows that are not asked
  if constexpr (std::is_same_v<Operator, times>)
    return [](kernel_frame& frame) {
      return map_two<int128, int128>(frame, [](int128 left, int128 right) {
        return static_cast<int128>(static_cast<uint128>(left) * static_cast<uint128>(right));
      });
    };
  const auto left_factor = static_cast<uint128>(power_of_ten(scales.result - scales.left));
  const auto right_factor = static_cast<uint128>(power_of_ten(scales.result - scales.right));
  return [left_factor, right_factor](kernel_frame& frame) {
    return map_two<int128, int128>(frame, [&](int128 left, int128 right) {
      const auto one = static_cast<uint128>(left) * left_factor;
      const auto other = static_cast<uint128>(right) * right_factor;
      return static_cast<int128>(std::is_same_v<Operator, plus> ? one + other : one - other);
    });
  };
}

template <class Operator>
result<kernel> make_operator(const kernel_request& request) {
  if (request.arguments.size() != 2)
    return unfit(request);
  if (are_decimals(request))
    return decimal_kernel<Operator>(request);
  kernel out;
  const bool is_plain =
      visit_plain_number(request.type.root(), [&]<class T>(std::type_identity<T>) {
        out = [](kernel_frame& frame) {
          return map_two<T, T>(frame, [](T left, T right) { return Operator::of(left, right); });
        };
      });
  if (is_plain)
    return out;
  return make_time_arithmetic(request);
}

template <class T>
column_ptr divide_integers(kernel_frame& frame) {
  return map_rows<T, T, T>(frame, [&](T left, T right) -> T {
    if (right == 0) {
      frame.fail("division by zero");
      return 0;
    }
    // The least value by -1 wraps.
    if (right == T{-1})
      return minus::of(T{0}, left);
    return static_cast<T>(left / right);
  });
}

result<kernel> make_divide(const kernel_request& request) {
  if (request.arguments.size() != 2)
    return unfit(request);
  if (are_decimals(request))
    return kernel([scales = scales_of(request)](kernel_frame& frame) {
      return map_rows<int128, int128, int128>(
          frame, [&](int128 left, int128 right) -> std::optional<int128> {
            if (right == 0) {
              frame.fail("division by zero");
              return std::nullopt;
            }
            return divide_decimals(left, right, scales);
          });
    });
  kernel out;
  const bool is_plain =
      visit_plain_number(request.type.root(), [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_integral_v<T>)
          out = divide_integers<T>;
        else
          out = [](kernel_frame& frame) {
            return map_two<T, T>(frame, [](T left, T right) { return left / right; });
          };
      });
  if (is_plain)
    return out;
  return make_time_arithmetic(request);
}

/// Both sides are BIGINT or DOUBLE; the remainder is of the divisor's type.
template <class R>
result<kernel> make_remainder(const kernel_request& request) {
  const auto root = request.arguments[0].root();
  if (request.arguments[1].root() != root)
    return unfit(request);
  if (root == type_root::bigint)
    return kernel([](kernel_frame& frame) {
      return map_rows<R, std::int64_t, std::int64_t>(
          frame, [&](std::int64_t left, std::int64_t right) -> R {
            if (right == 0) {
              frame.fail("division by zero");
              return R{};
            }
            return right == -1 ? R{} : static_cast<R>(left % right);
          });
    });
  if (root != type_root::double_)
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    return map_rows<R, double, double>(frame, [&](double left, double right) -> R {
      if (std::is_integral_v<R> && right == 0) {
        frame.fail("division by zero");
        return R{};
      }
      return static_cast<R>(std::fmod(left, right));
    });
  });
}

result<kernel> make_modulo(const kernel_request& request) {
  if (request.arguments.size() != 2)
    return unfit(request);
  if (are_decimals(request))
    return kernel([scales = scales_of(request)](kernel_frame& frame) {
      return map_rows<int128, int128, int128>(
          frame, [&](int128 left, int128 right) -> std::optional<int128> {
            if (right == 0) {
              frame.fail("division by zero");
              return std::nullopt;
            }
            return modulo_decimals(left, right, scales);
          });
    });
  result<kernel> out = unfit(request);
  visit_plain_number(request.type.root(),
                     [&]<class T>(std::type_identity<T>) { out = make_remainder<T>(request); });
  return out;
}

result<kernel> make_negate(const kernel_request& request) {
  if (request.arguments.size() != 1)
    return unfit(request);
  kernel out;
  const auto negate = [&]<class T>(std::type_identity<T>) {
    out = [](kernel_frame& frame) {
      return map_one<T, T>(frame, [](T value) {
        if constexpr (std::is_floating_point_v<T>)
          return -value;
        else
          return minus::of(T{0}, value);
      });
    };
  };
  if (visit_plain_number(request.type.root(), negate))
    return out;
  if (request.type.root() == type_root::interval_year_month)
    negate(std::type_identity<std::int32_t>());
  else if (request.type.root() == type_root::interval_day_time)
    negate(std::type_identity<std::int64_t>());
  else if (request.type.root() == type_root::decimal)
    out = [](kernel_frame& frame) {
      return map_one<int128, int128>(frame, [](int128 value) { return -value; });
    };
  if (!out)
    return unfit(request);
  return out;
}

constexpr kernel_entry entries[] = {
    {"+", "n", make_operator<plus>},     {"-", "n", make_operator<minus>},
    {"*", "n", make_operator<times>},    {"/", "n", make_divide, true, true},
    {"%", "m", make_modulo, true, true}, {"MOD", "m", make_modulo, true, true},
    {"NEGATE", "r", make_negate},
};

} // namespace

std::span<const kernel_entry> arithmetic_kernels() { return entries; }

} // namespace headrace::graph
