#pragma once

#include "libgraph/data/record_batch.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace headrace::graph {

/// Orders two fixed-width values: negative, zero, positive. -0.0 equals 0.0; NaN equals NaN and is
/// greater than any number.
template <class T>
int compare_fixed(T left, T right) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(left) || std::isnan(right))
      return static_cast<int>(std::isnan(left)) - static_cast<int>(std::isnan(right));
  }
  return static_cast<int>(left > right) - static_cast<int>(left < right);
}

/// Orders two values of one type, of fixed width or strings (by unsigned bytes). NULL equals NULL
/// and is less than any value.
int compare_values(const column& left, std::size_t left_row, const column& right,
                   std::size_t right_row);

/// Returns whether two values are the same key, as `hash_columns` sees it; nested types too.
bool are_equal_keys(const column& left, std::size_t left_row, const column& right,
                    std::size_t right_row);

/// Compares pairs of rows, column after column: clears equal[i] where the keys of left_rows[i] and
/// right_rows[i] differ. All three are of one length; call it for each key column over bytes that
/// begin as 1.
void compare_keys(const column& left, std::span<const std::uint32_t> left_rows, const column& right,
                  std::span<const std::uint32_t> right_rows, std::span<std::uint8_t> equal);

} // namespace headrace::graph
