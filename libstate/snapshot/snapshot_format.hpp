#pragma once

#include "libstate/key/key_group_range.hpp"
#include "libstate/key/key_schema.hpp"
#include "libstate/keyed/state_description.hpp"
#include "libgraph/types/logical_type.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headrace::state {

/// The canonical form of keyed state: sorted by key group, readable by every backend.
///
///     preamble   magic "HRKEYED1", u32 version, u32 header bytes, u64 checksum of what follows
///     header     key type, max parallelism, key groups, states (name, kind, types, layout, ttl)
///     blocks     each: u32 stored bytes, u32 raw bytes, u64 checksum of the stored bytes and both
///                sizes; then zstd of the raw bytes
///     footer     blocks (offset, raw bytes, and since version 2 their checksum), and per key group
///                its first byte (block, offset)
///     trailer    u64 footer offset, u32 footer bytes, u32 version, u64 checksum of the footer and
///                of these, magic "HRKEYEND"
///
/// Raw bytes are chunks: u8 flags (bit 0: the key is NULL), varint state, varint namespace
/// (zigzag), varint rows, varint bytes; then the rows: key (8 bytes of shape fixed, none when NULL;
/// else varint length, bytes), map key (varint length, bytes; maps only), stamp (8 bytes; with ttl
/// only), value (fixed bytes; or varint length, bytes). A chunk never spans blocks or key groups.
/// Offsets count from the preamble, so that the snapshot may lie anywhere in a file. Checksums are
/// XXH3. That of the segment is of the trailer, seeded by the preamble's.
namespace snapshot_format {
inline constexpr std::string_view magic = "HRKEYED1";
inline constexpr std::string_view end_magic = "HRKEYEND";
inline constexpr std::uint32_t version = 2;
inline constexpr std::uint32_t oldest_version = 1;
inline constexpr std::size_t preamble_bytes = 24;
inline constexpr std::size_t block_header_bytes = 16;
inline constexpr std::size_t block_checksum_at = 8; ///< in its header
inline constexpr std::size_t trailer_bytes = 32;
inline constexpr std::size_t block_bytes = 256U * 1024U;       ///< raw; a block ends beyond it
inline constexpr std::size_t chunk_bytes = 32U * 1024U;        ///< raw; a chunk ends beyond it
inline constexpr std::uint64_t raw_bytes_max = 1ULL << 31U;    ///< of a block: one huge value
inline constexpr std::uint64_t stored_ratio_max = 1ULL << 16U; ///< raw to stored; zstd gives less
inline constexpr std::uint64_t header_bytes_max = 64ULL << 20U;
inline constexpr int compression_level = 1;
} // namespace snapshot_format

/// What a snapshot says of itself.
struct snapshot_header {
  graph::logical_type key_type; ///< a row of the key columns
  std::int32_t max_parallelism = 128;
  key_group_range groups;
  std::vector<state_description> states;
};

/// One row of a snapshot. Views are valid until the next row.
struct snapshot_row {
  std::uint32_t state = 0; ///< index into the header's states
  std::int64_t space = 0;  ///< the namespace
  bool key_is_null = false;
  byte_view key;             ///< in its stored form: see key_batch::append_stored
  byte_view entry_key;       ///< maps only
  std::int64_t stamp_ms = 0; ///< last written; states with TTL only
  byte_view value;
};

/// By state: whether the keys of its rows are of shape fixed.
std::vector<bool> have_fixed_keys(const snapshot_header& header);

/// Checks that a backend of these keys may restore the snapshot.
/// @errors incompatible_state  another key type or max parallelism; names the path
status check_keys(const snapshot_header& stored, const key_schema& key,
                  std::int32_t max_parallelism, const std::string& path);

/// The refusal of a backend that is given a snapshot in the form of another one.
/// @param format  of its handle: the other backend's name
error of_another_backend(const std::string& format, const std::string& path);

void encode(const snapshot_header& header, byte_writer& out);
/// @errors malformed_message
result<snapshot_header> decode_snapshot_header(byte_view stored);

} // namespace headrace::state
