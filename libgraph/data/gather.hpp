#pragma once

#include "libgraph/data/record_batch.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace headrace::graph {

/// Names rows of a column: those at `rows` (any order, repeats allowed), or without `rows` those in
/// [from, from + count).
struct column_piece {
  const column* source = nullptr;
  const std::uint32_t* rows = nullptr;
  std::size_t from = 0;
  std::size_t count = 0;
};

/// What becomes of the bytes of long strings when rows are copied.
enum class string_bytes : std::uint8_t {
  share,          ///< the new column holds the buffers of the old one
  copy,           ///< copied
  copy_if_sparse, ///< copied when the buffers are over four times as large, else shared
};

/// Copies the rows of the pieces, in order, into one column. `pieces` are of type `type`, are not
/// empty and name at most 2^31 - 1 rows. Nested values are copied; a NULL list becomes an empty
/// one.
column_ptr assemble_column(const logical_type& type, std::span<const column_piece> pieces,
                           string_bytes strings);

/// Copies the rows of one column.
column_ptr gather_column(const column& source, std::span<const std::uint32_t> rows,
                         string_bytes strings = string_bytes::copy_if_sparse);

/// Copies the selected rows of the batches, in order, into one. `batches` are of one type and not
/// empty. Rows of a batch without timestamps get the least one where another batch has them.
record_batch assemble_batch(std::span<const record_batch> batches, string_bytes strings);

/// Copies fixed-width values from `from` to `to`. `width_bytes` is 1, 2, 4, 8 or 16.
void gather_values(std::size_t width_bytes, const std::byte* from,
                   std::span<const std::uint32_t> rows, std::byte* to);

/// Sets bits [to_bit, to_bit + count) of `to` from the validity of the piece. `to` is zero there.
void gather_validity(const column_piece& piece, std::uint8_t* to, std::size_t to_bit);

} // namespace headrace::graph
