#include "libgraph/kernel/compare.hpp"

#include "libgraph/data/fixed_width.hpp"
#include "libgraph/expression/kernel/decimal.hpp"
#include "libgraph/expression/kernel/map.hpp"

#include <cstring>

namespace headrace::graph {
namespace {

struct equal {
  template <class T>
  static bool of(T left, T right) {
    return left == right;
  }
};
struct not_equal {
  template <class T>
  static bool of(T left, T right) {
    return left != right;
  }
};
struct less {
  template <class T>
  static bool of(T left, T right) {
    return left < right;
  }
};
struct less_or_equal {
  template <class T>
  static bool of(T left, T right) {
    return left <= right;
  }
};

template <class Operator>
column_ptr compare_texts(kernel_frame& frame) {
  auto out = frame.buffers.allocate(frame.rows.total);
  auto* to = out->mutable_as<std::uint8_t>();
  const reader<std::string_view> left(frame.arguments[0]);
  const reader<std::string_view> right(frame.arguments[1]);
  auto validity = joined_validity(frame);
  const auto* bits = validity ? validity->as<std::uint8_t>() : nullptr;
  for_each_row(frame.rows, [&](std::size_t row) {
    // Slots of NULLs may name nothing.
    if (bits != nullptr && ((bits[row >> 3U] >> (row & 7U)) & 1U) == 0U) {
      to[row] = 0;
      return;
    }
    to[row] = static_cast<std::uint8_t>(Operator::of(left[row], right[row]));
  });
  return make_fixed(frame.type, frame.rows.total, std::move(out), std::move(validity));
}

/// Size and prefix are one word: most pairs that differ, differ there.
template <bool Wanted>
column_ptr compare_equal_texts(kernel_frame& frame) {
  auto out = frame.buffers.allocate(frame.rows.total);
  auto* to = out->mutable_as<std::uint8_t>();
  const reader<std::string_view> left(frame.arguments[0]);
  const reader<std::string_view> right(frame.arguments[1]);
  auto validity = joined_validity(frame);
  const auto* bits = validity ? validity->as<std::uint8_t>() : nullptr;
  for_each_row(frame.rows, [&](std::size_t row) {
    std::uint64_t one[2];
    std::uint64_t other[2];
    std::memcpy(&one[0], &left.slot(row), sizeof(one));
    std::memcpy(&other[0], &right.slot(row), sizeof(other));
    bool is_equal = one[0] == other[0];
    if (is_equal && left.slot(row).is_inline()) {
      is_equal = one[1] == other[1];
    } else if (is_equal) {
      // Slots of NULLs may name nothing.
      const bool is_null =
          bits != nullptr && ((static_cast<unsigned>(bits[row >> 3U]) >> (row & 7U)) & 1U) == 0U;
      is_equal = !is_null && left[row] == right[row];
    }
    to[row] = static_cast<std::uint8_t>(is_equal == Wanted);
  });
  return make_fixed(frame.type, frame.rows.total, std::move(out), std::move(validity));
}

/// Nested values are equal or not, without an order.
column_ptr compare_nested(kernel_frame& frame, bool wanted) {
  auto out = frame.buffers.allocate(frame.rows.total);
  auto* to = out->mutable_as<std::uint8_t>();
  const auto& left = frame.arguments[0];
  const auto& right = frame.arguments[1];
  for_each_row(frame.rows, [&](std::size_t row) {
    to[row] = static_cast<std::uint8_t>(are_equal_keys(*left.values, left.is_constant ? 0 : row,
                                                       *right.values,
                                                       right.is_constant ? 0 : row) == wanted);
  });
  return make_fixed(frame.type, frame.rows.total, std::move(out), joined_validity(frame));
}

/// Less than, equal to or greater than 0 as `left`, which has no more digits behind the point, is
/// to `right`. Exact, whatever their digits. @param unit  10 to the power of the digits more
int compare_decimals(int128 left, int128 right, int128 unit) {
  const auto whole = right / unit;
  if (left != whole)
    return left < whole ? -1 : 1;
  const auto rest = right % unit;
  return rest > 0 ? -1 : rest < 0 ? 1 : 0;
}

/// Decimals that differ in their digits behind the point.
template <class Operator>
kernel make_decimal_comparison(int left_scale, int right_scale) {
  const bool is_swapped = left_scale > right_scale;
  const auto unit = power_of_ten(is_swapped ? left_scale - right_scale : right_scale - left_scale);
  return [is_swapped, unit](kernel_frame& frame) {
    return map_two<std::uint8_t, int128>(frame, [&](int128 left, int128 right) {
      const auto order =
          is_swapped ? -compare_decimals(right, left, unit) : compare_decimals(left, right, unit);
      return static_cast<std::uint8_t>(Operator::of(order, 0));
    });
  };
}

template <class Operator>
result<kernel> make_comparison(const kernel_request& request) {
  if (request.arguments.size() != 2 ||
      request.arguments[0].physical() != request.arguments[1].physical())
    return unfit(request);
  const auto physical = request.arguments[0].physical();
  const auto& one = request.arguments[0];
  const auto& other = request.arguments[1];
  if (one.root() == type_root::decimal && other.root() == type_root::decimal &&
      one.scale() != other.scale())
    return make_decimal_comparison<Operator>(one.scale(), other.scale());
  kernel out;
  const bool is_fixed = visit_fixed_width(physical, [&]<class T>(std::type_identity<T>) {
    out = [](kernel_frame& frame) {
      return map_two<std::uint8_t, T>(frame, [](T left, T right) {
        return static_cast<std::uint8_t>(Operator::of(left, right));
      });
    };
  });
  if (is_fixed)
    return out;
  if (physical == physical_type::string) {
    if constexpr (std::is_same_v<Operator, equal> || std::is_same_v<Operator, not_equal>)
      return kernel(compare_equal_texts<std::is_same_v<Operator, equal>>);
    else
      return kernel(compare_texts<Operator>);
  }
  if constexpr (std::is_same_v<Operator, equal> || std::is_same_v<Operator, not_equal>)
    if (physical != physical_type::none)
      return kernel([](kernel_frame& frame) {
        return compare_nested(frame, std::is_same_v<Operator, equal>);
      });
  return unfit(request);
}

/// a > b as b < a.
template <class Operator>
result<kernel> make_swapped(const kernel_request& request) {
  if (request.arguments.size() != 2)
    return unfit(request);
  const logical_type types[] = {request.arguments[1], request.arguments[0]};
  const column_ptr constants[] = {request.constants[1], request.constants[0]};
  HEADRACE_TRY(auto made, make_comparison<Operator>(
                              {request.function, types, constants, request.type, request.zone}));
  return kernel([made = std::move(made)](kernel_frame& frame) {
    const operand swapped[] = {frame.arguments[1], frame.arguments[0]};
    const auto given = frame.arguments;
    frame.arguments = swapped;
    auto out = made(frame);
    frame.arguments = given;
    return out;
  });
}

/// NULL is a value here, equal to itself.
result<kernel> make_distinct(const kernel_request& request, bool is_negated) {
  HEADRACE_TRY(auto equals, make_comparison<equal>(request));
  return kernel([equals = std::move(equals), is_negated](kernel_frame& frame) {
    const auto same = equals(frame);
    auto out = frame.buffers.allocate(frame.rows.total);
    auto* to = out->mutable_as<std::uint8_t>();
    const auto* is_same = same->values<std::uint8_t>();
    const auto is_null = [&](std::size_t argument, std::size_t row) {
      const auto& from = frame.arguments[argument];
      return from.values->is_null(from.is_constant ? 0 : row);
    };
    for_each_row(frame.rows, [&](std::size_t row) {
      const bool left = is_null(0, row);
      const bool right = is_null(1, row);
      const bool is_distinct = left || right ? left != right : is_same[row] == 0;
      to[row] = static_cast<std::uint8_t>(is_distinct != is_negated);
    });
    return make_fixed(frame.type, frame.rows.total, std::move(out), nullptr);
  });
}
result<kernel> make_is_distinct(const kernel_request& request) {
  return make_distinct(request, false);
}
result<kernel> make_is_not_distinct(const kernel_request& request) {
  return make_distinct(request, true);
}

column_ptr test_null(kernel_frame& frame, bool wanted) {
  auto out = frame.buffers.allocate(frame.rows.total);
  auto* to = out->mutable_as<std::uint8_t>();
  const auto& from = frame.arguments[0];
  for_each_row(frame.rows, [&](std::size_t row) {
    to[row] = static_cast<std::uint8_t>(from.values->is_null(from.is_constant ? 0 : row) == wanted);
  });
  return make_fixed(frame.type, frame.rows.total, std::move(out), nullptr);
}
template <bool Wanted>
result<kernel> make_null_test(const kernel_request& request) {
  if (request.arguments.size() != 1)
    return unfit(request);
  return kernel([](kernel_frame& frame) { return test_null(frame, Wanted); });
}

constexpr kernel_entry entries[] = {
    {"=", ".", make_comparison<equal>},
    {"<>", ".", make_comparison<not_equal>},
    {"<", ".", make_comparison<less>},
    {"<=", ".", make_comparison<less_or_equal>},
    {">", ".", make_swapped<less>},
    {">=", ".", make_swapped<less_or_equal>},
    {"IS DISTINCT FROM", ".", make_is_distinct, false},
    {"IS NOT DISTINCT FROM", ".", make_is_not_distinct, false},
    {"IS NULL", ".", make_null_test<true>, false},
    {"IS NOT NULL", ".", make_null_test<false>, false},
};

} // namespace

std::span<const kernel_entry> compare_kernels() { return entries; }

} // namespace headrace::graph
