#pragma once

#include "libstate/key/key_batch.hpp"
#include "libstate/keyed/keyed_table.hpp"

#include <cstdint>

namespace headrace::state {

/// How rows are named in a column family. Order is that of bytes: by key group, then namespace,
/// then key; so a key group is a range, and so is a namespace within it.
///
///     table   group (2 bytes, big endian) | namespace (1–9 bytes) | key
///     map     group (2 bytes, big endian) | key, self-delimiting  | map key
///
/// The namespace is a byte that tells sign and length, then its significant bytes, big endian. A
/// fixed key is its 8 bytes, big endian, or nothing when NULL; of a map, 1 and these, or 0. A key
/// of bytes is itself; of a map, its length as a varint and itself.
namespace row_key {

/// Takes a key group's or namespace's prefix apart. All but malformed keys have a group.
inline constexpr std::size_t group_bytes = 2;

void append_group(byte_string& out, std::uint16_t group);
void append_space(byte_string& out, state_namespace space);
/// Of a table's row.
void append_key(byte_string& out, const key_ref& key, key_shape shape);
/// Of a map's entry, in front of the map key.
void append_map_key(byte_string& out, const key_ref& key, key_shape shape);

/// The first key that does not begin with `prefix`; empty when there is none.
byte_string end_of_prefix(byte_view prefix);
/// The keys of some groups: [first, end).
byte_string start_of_group(std::int32_t group);

inline std::uint16_t group_of(byte_view key) {
  return static_cast<std::uint16_t>(static_cast<unsigned char>(key[0]) << 8U |
                                    static_cast<unsigned char>(key[1]));
}

/// A row's name taken apart.
struct parts {
  std::uint16_t group = 0;
  state_namespace space = 0;
  bool key_is_null = false;
  std::uint64_t fixed = 0; ///< shape fixed
  byte_view bytes;         ///< shape bytes
  byte_view entry_key;     ///< maps

  /// The key as a table's row has it, with its hash.
  key_ref key(key_shape shape) const;
  /// Its stored form (see key_batch::append_stored); valid as long as these parts.
  byte_view stored(key_shape shape) const;
};
/// @errors corrupt_snapshot  no name that was written here
result<parts> split(byte_view key, key_shape shape, bool is_map);

} // namespace row_key

} // namespace headrace::state
