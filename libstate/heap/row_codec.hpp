#pragma once

#include "libstate/heap/heap_directory.hpp"
#include "libstate/heap/row_layout.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <cstddef>

namespace headrace::state {

/// How rows of pages lie in a native snapshot of the heap: in the order of their fields, bytes of
/// any length behind a varint of their length. Rows without such bytes are copied as they are.
class row_codec {
public:
  explicit row_codec(const row_layout& layout) : layout_(&layout) {}

  /// Whether a row is stored as the bytes that it is.
  bool is_plain() const { return layout_->shape == key_shape::fixed && !layout_->has_blob; }
  void write(const std::byte* row, byte_writer& out) const;
  /// Writes over a row, which holds nothing that must be freed. @errors malformed_message
  status read(byte_reader& in, std::byte* row, blob_store& blobs) const;
  /// Gives back what a row holds.
  void release(std::byte* row, blob_store& blobs) const;

private:
  const row_layout* layout_;
};

} // namespace headrace::state
