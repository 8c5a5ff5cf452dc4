#pragma once

#include "libgraph/data/key_codec.hpp"

#include <cstdint>
#include <span>

namespace headrace::graph {

/// A column that rows are ordered by.
struct order_column {
  std::int32_t column = 0; ///< of a fixed width, or a string
  bool is_descending = false;
  bool nulls_first = false;
  friend bool operator==(const order_column&, const order_column&) = default;
};

/// Writes what each selected row is ordered by as bytes whose order (unsigned, as of memcmp) is
/// that of the rows, in every process and for ever. Rows that are equal in all columns have equal
/// bytes. -0.0 equals 0.0, and NaN is greater than any number.
///
///     key     for each column 1 and its value, or of a NULL 0 (first) or 2 (last)
///     value   integers: sign turned, big endian; reals: their bits, likewise, of negative ones all
///             turned; strings: 0 as 0 255, then 0 0; descending: all bits turned
///
/// @param out  replaced
void encode_order_keys(const record_batch& rows, std::span<const order_column> order,
                       encoded_keys& out);

} // namespace headrace::graph
