#pragma once

#include "libgraph/types/logical_type.hpp"

// Sums of decimals as unscaled 128-bit values.
namespace headrace::graph {

/// Stands for a sum that has left 128 bits: no decimal has this value, and whatever is added to it
/// or taken from it, it stays. It is beyond any decimal's digits, so such a sum is NULL.
inline constexpr int128 lost_decimal_sum = int128{-1} << 127;

/// Adds a decimal, or another sum. A sum beyond 38 digits is kept while 128 bits hold it, so that
/// it comes back when what was too much is taken away.
constexpr int128 add_to_decimal_sum(int128 sum, int128 by) {
  int128 out = 0;
  const bool is_lost =
      __builtin_add_overflow(sum, by, &out) || sum == lost_decimal_sum || by == lost_decimal_sum;
  return is_lost ? lost_decimal_sum : out;
}

/// Takes a decimal, or another sum, away.
constexpr int128 take_from_decimal_sum(int128 sum, int128 by) {
  return by == lost_decimal_sum ? by : add_to_decimal_sum(sum, -by);
}

} // namespace headrace::graph
