#pragma once

#include "libstate/handle/state_handle.hpp"
#include "libstate/snapshot/snapshot_format.hpp"
#include "libstate/storage/state_stream.hpp"
#include "libactors/base/file_system.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace headrace::state {

/// What a native snapshot of the heap backend has beside the rows, which lie in the elements of a
/// chain: one with all rows, and increments that are applied behind it in order. They are the
/// handle's shared files; few rows lie behind this instead, and the handle has none.
///
///     magic "HRHEAP01", u32 version, u64 bytes of the body, u64 checksum of the body, body
///
/// The body's checksum is that of the segment.
///
/// An element is blocks (see snapshot_format); its checksum is XXH3 of each block's head, seeded by
/// that of the one before. The raw bytes of a block are sections, each of one directory: varint id,
/// varint bytes; then pieces:
///
///     page   u8 1, varint page, varint used rows, live bits (u64 each 64 rows), live rows
///     rows   u8 2, varint rows, each: varint row << 1 | whether it is live, and the row if so
///
/// Rows keep their numbers as long as they live, so what is written later replaces what is there. A
/// directory that is not listed is gone, and so is what elements have of it.
struct heap_native {
  static constexpr std::string_view format = "hashmap"; ///< of the handle
  enum piece : std::uint8_t { page_piece = 1, rows_piece = 2 };

  struct directory {
    std::uint64_t id = 0;
    std::uint32_t state = 0; ///< index into the header's states
    std::uint8_t part = 0;   ///< of a map: 0 heads, 1 entries
    std::int64_t space = 0;
    std::uint32_t pages = 0;
    std::uint32_t first_used = 0; ///< rows of the first page, which may be small
    std::uint32_t null_row = 0;
  };
  struct element {
    std::uint64_t checksum = 0;
    std::uint64_t rows = 0;
  };
  snapshot_header header;
  std::vector<directory> directories;
  std::vector<element> elements;  ///< parallel to the handle's shared files; else the one behind
  std::uint64_t inline_bytes = 0; ///< of the element behind the body; 0: there is none
};

/// Writes the body, and `behind` it.
result<state_segment> write_heap_native(const heap_native& snapshot, byte_view behind,
                                        state_output& out);
/// @errors corrupt_snapshot, unsupported_snapshot_version, storage_failed; all name the path
result<heap_native> read_heap_native(file_system& files, const keyed_state_handle& handle);
/// Where the element that lies behind the body is.
state_segment inline_element(const heap_native& snapshot, const state_segment& whole);

} // namespace headrace::state
