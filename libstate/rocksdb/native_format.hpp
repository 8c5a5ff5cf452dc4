#pragma once

#include "libstate/handle/state_handle.hpp"
#include "libstate/snapshot/snapshot_format.hpp"
#include "libstate/storage/state_stream.hpp"
#include "libactors/base/file_system.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::state {

/// What a native snapshot of the RocksDB backend has beside its table files, which the handle
/// lists.
///
///     magic "HRROCKS1", u32 version, u64 bytes of the body, u64 checksum of the body, body
///
/// The body's checksum is that of the segment.
struct native_snapshot {
  static constexpr std::string_view format = "rocksdb"; ///< of the handle

  struct state_part {
    std::string family; ///< name of its column family
    byte_string counts; ///< of its rows, see namespace_counts
  };
  snapshot_header header;
  std::vector<state_part> states;       ///< parallel to those of the header
  std::vector<std::uint64_t> checksums; ///< of the table files, parallel to the handle's list
  std::string manifest_name;
  byte_string manifest; ///< RocksDB's own
};

/// Bytes in which table files are read and written; a file's checksum is XXH3 of each piece, seeded
/// by that of the one before.
inline constexpr std::size_t table_piece_bytes = std::size_t{1} << 20U;

result<state_segment> write_native(const native_snapshot& snapshot, state_output& out);
/// @errors corrupt_snapshot, unsupported_snapshot_version, storage_failed; all name the path
result<native_snapshot> read_native(file_system& files, const keyed_state_handle& handle);

} // namespace headrace::state
