#pragma once

#include "libgraph/data/record_batch.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

// Folds of one column over the selected rows of a batch. NULLs are skipped.
namespace headrace::graph {

struct integer_sum {
  int128 sum = 0;
  std::size_t count = 0; ///< of values that are not NULL
};
struct real_sum {
  double sum = 0;
  std::size_t count = 0;
};

/// Sums integers, exactly, or the unscaled values of decimals: `lost_decimal_sum` beyond 128 bits,
/// which takes more than a decimal's 38 digits.
integer_sum sum_integers(const record_batch& batch, std::size_t column);
/// Sums FLOAT or DOUBLE, in the order of the rows.
real_sum sum_reals(const record_batch& batch, std::size_t column);
std::size_t count_values(const record_batch& batch, std::size_t column);

/// Returns the column row of the first least (greatest) value; nothing when all are NULL. For fixed
/// widths and strings (by bytes). NaN is greater than any number, as in Java.
std::optional<std::uint32_t> least_row(const record_batch& batch, std::size_t column);
std::optional<std::uint32_t> greatest_row(const record_batch& batch, std::size_t column);

} // namespace headrace::graph
