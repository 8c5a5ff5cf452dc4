#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headrace::state {

/// What the next snapshot writes behind a chain: increments behind one whole one.
struct increment_plan {
  bool is_whole = false;    ///< all rows: a new chain begins
  std::size_t absorbed = 0; ///< last increments of the chain whose rows are written again with it
  friend bool operator==(const increment_plan&, const increment_plan&) = default;
};

/// Increments of a chain, the whole one not counted: a restore reads each of them.
inline constexpr std::size_t increments_max = 16;

/// Keeps chains short without writing much twice: when `fan` increments of about a size would stand
/// behind one another, they become one (a row is written again once for each power of `fan` that
/// the chain has grown by), and what takes half as much as the whole begins a new chain. Pure.
///
/// @param chain    rows of each element, the whole one first; empty: there is no chain
/// @param changed  rows that have changed since its last element
/// @param all      rows that there are now
increment_plan plan_increment(const std::vector<std::uint64_t>& chain, std::uint64_t changed,
                              std::uint64_t all);

} // namespace headrace::state
