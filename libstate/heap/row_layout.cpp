#include "libstate/heap/row_layout.hpp"

#include "libactors/base/assert.hpp"

#include <bit>

namespace headrace::state {

row_layout row_layout::make(key_shape shape, std::size_t fixed_bytes, bool has_blob) {
  HEADRACE_ASSERT(fixed_bytes % 8 == 0 && fixed_bytes <= 1040, "fixed values are words, few");
  row_layout out;
  out.shape = shape;
  out.key_bytes = shape == key_shape::fixed ? 8 : sizeof(blob);
  out.fixed_at = out.key_bytes;
  out.fixed_bytes = static_cast<std::uint32_t>(fixed_bytes);
  out.blob_at = out.fixed_at + out.fixed_bytes;
  out.has_blob = has_blob;
  out.stride = out.blob_at + (has_blob ? static_cast<std::uint32_t>(sizeof(blob)) : 0U);
  // The live bits take room of the rows that they tell of.
  std::uint32_t rows = page_pool::page_bytes / out.stride;
  for (;; --rows) {
    out.rows_at = static_cast<std::uint32_t>(sizeof(page_header)) + (rows + 63) / 64 * 8;
    if (out.rows_at + rows * out.stride <= page_pool::page_bytes)
      break;
  }
  out.rows_a_page = rows;
  out.row_bits = static_cast<std::uint32_t>(std::bit_width(rows - 1));
  return out;
}

} // namespace headrace::state
