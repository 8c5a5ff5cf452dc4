#pragma once

#include "libstate/heap/page_pool.hpp"
#include "libstate/key/key_schema.hpp"
#include "libactors/base/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace headrace::state {

/// Bytes of any length in a row: up to 12 in place, else in memory of the directory. `born` is the
/// epoch of that memory: a snapshot may read it when it is not younger than the snapshot.
struct blob {
  static constexpr std::uint32_t inline_max = 12;
  std::uint32_t size = 0;
  std::uint32_t born = 0; ///< with `memory`, the place of up to 12 bytes
  std::byte* memory = nullptr;

  bool is_inline() const { return size <= inline_max; }
  char* inline_bytes() { return reinterpret_cast<char*>(this) + sizeof(size); }
  const char* inline_bytes() const { return reinterpret_cast<const char*>(this) + sizeof(size); }
  byte_view view() const {
    return {is_inline() ? inline_bytes() : reinterpret_cast<const char*>(memory), size};
  }
};
static_assert(sizeof(blob) == 16);

/// In front of the rows of a page. Rows are numbered; `live` bits tell which of them are there.
struct page_header {
  std::int64_t born = 0;
  std::uint32_t used = 0; ///< rows handed out at least once
  std::uint32_t live = 0;
  std::uint64_t* live_bits() { return reinterpret_cast<std::uint64_t*>(this + 1); }
  const std::uint64_t* live_bits() const {
    return reinterpret_cast<const std::uint64_t*>(this + 1);
  }
  bool is_live(std::uint32_t row) const {
    return ((live_bits()[row / 64] >> (row % 64)) & 1U) != 0;
  }
};
static_assert(sizeof(page_header) == 16);

/// How the rows of one table lie in a page. A value.
///
///     | header | live bits | row | row | …      row: key (8, or a blob) | fixed | blob
///
/// A row's number is `page << row_bits | row of the page`.
struct row_layout {
  key_shape shape = key_shape::fixed;
  std::uint32_t key_bytes = 8;
  std::uint32_t fixed_at = 0;
  std::uint32_t fixed_bytes = 0;
  std::uint32_t blob_at = 0;
  bool has_blob = false;
  std::uint32_t stride = 0;
  std::uint32_t rows_at = 0;
  std::uint32_t row_bits = 0;
  std::uint32_t rows_a_page = 0;

  static row_layout make(key_shape shape, std::size_t fixed_bytes, bool has_blob);

  std::uint32_t rows_of(page_class size) const {
    const auto fitting = (page_pool::size_of(size) - rows_at) / stride;
    return static_cast<std::uint32_t>(fitting);
  }
  std::byte* row(std::byte* page, std::uint32_t number) const {
    return page + rows_at + static_cast<std::size_t>(number) * stride;
  }
  const std::byte* row(const std::byte* page, std::uint32_t number) const {
    return page + rows_at + static_cast<std::size_t>(number) * stride;
  }
  static std::uint64_t fixed_key(const std::byte* row) {
    std::uint64_t key = 0;
    std::memcpy(&key, row, sizeof(key));
    return key;
  }
  static const blob& bytes_key(const std::byte* row) { return *reinterpret_cast<const blob*>(row); }
  blob& value(std::byte* row) const { return *reinterpret_cast<blob*>(row + blob_at); }
  const blob& value(const std::byte* row) const {
    return *reinterpret_cast<const blob*>(row + blob_at);
  }
};

} // namespace headrace::state
