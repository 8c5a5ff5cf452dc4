#pragma once

#include "libgraph/data/record_batch.hpp"
#include "libactors/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headrace::task {

/// Rows that a table function made, in the order of the rows that they were made of.
struct made_rows {
  std::vector<std::uint32_t> parents;     ///< of each, the row of the input's columns
  std::vector<graph::column_ptr> columns; ///< as many rows as `parents`
};

/// A table function, as the operator around it calls it: batch by batch, each in bounded pieces. Of
/// one thread.
class table_rows {
public:
  virtual ~table_rows() = default;

  /// Takes a batch, whose rows are then made.
  /// @param arguments  a column an argument, with a value at each row of `in` that is selected
  virtual status take(const graph::record_batch& in, const graph::record_batch& arguments) = 0;
  /// Makes about as many rows as `rows_max`, of the types that the operator's output has.
  /// @param out  is empty; stays so when nothing is made of the rows that were looked at
  /// @returns whether there is more. @errors as the function's
  virtual result<bool> make(std::size_t rows_max, made_rows& out) = 0;
};

} // namespace headrace::task
