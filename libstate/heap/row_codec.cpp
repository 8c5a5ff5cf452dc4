#include "libstate/heap/row_codec.hpp"

#include <cstring>

namespace headrace::state {

void row_codec::write(const std::byte* row, byte_writer& out) const {
  const auto* bytes = reinterpret_cast<const char*>(row);
  if (layout_->shape == key_shape::bytes)
    out.put_bytes(row_layout::bytes_key(row).view());
  else
    out.put_raw({bytes, layout_->key_bytes});
  out.put_raw({bytes + layout_->fixed_at, layout_->fixed_bytes});
  if (layout_->has_blob)
    out.put_bytes(layout_->value(row).view());
}

status row_codec::read(byte_reader& in, std::byte* row, blob_store& blobs) const {
  if (layout_->shape == key_shape::bytes) {
    HEADRACE_TRY(const auto key, in.get_bytes());
    blobs.assign(*reinterpret_cast<blob*>(row), key);
  } else {
    HEADRACE_TRY(const auto key, in.get_raw(layout_->key_bytes));
    std::memcpy(row, key.data(), key.size());
  }
  if (layout_->fixed_bytes > 0) {
    HEADRACE_TRY(const auto fixed, in.get_raw(layout_->fixed_bytes));
    std::memcpy(row + layout_->fixed_at, fixed.data(), fixed.size());
  }
  if (layout_->has_blob) {
    // What follows may be malformed: then the row is freed with a value that is one.
    layout_->value(row) = blob();
    HEADRACE_TRY(const auto value, in.get_bytes());
    blobs.assign(layout_->value(row), value);
  }
  return {};
}

void row_codec::release(std::byte* row, blob_store& blobs) const {
  if (layout_->shape == key_shape::bytes)
    blobs.release(row_layout::bytes_key(row));
  if (layout_->has_blob)
    blobs.release(layout_->value(row));
}

} // namespace headrace::state
