#pragma once

#include <cstdint>

namespace headrace::graph {

/// What one end of a window of rows is told by.
enum class over_bound : std::uint8_t {
  unbounded, ///< the partition's end
  rows,      ///< so many rows from the current one
  peers,     ///< the rows that are equal to the current one in the order
  value,     ///< a value of the first column of the order
};
struct over_edge {
  over_bound kind = over_bound::unbounded;
  std::int64_t rows = 0;    ///< of `rows`: negative ones precede
  std::int32_t column = -1; ///< of `value`: has it, of the type of the order's column
  friend bool operator==(const over_edge&, const over_edge&) = default;
};
/// Which rows of its partition, in their order, the window of each row has; perhaps none.
struct over_frame {
  over_edge first{};
  over_edge last{over_bound::peers};
  friend bool operator==(const over_frame&, const over_frame&) = default;
};

} // namespace headrace::graph
