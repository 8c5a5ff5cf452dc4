#pragma once

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/record_batch.hpp"
#include "libactors/base/bytes.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace headrace::graph {

/// Keys as bytes, one after the other. Reused from batch to batch.
struct encoded_keys {
  byte_string bytes;
  std::vector<std::size_t> offsets; ///< size() + 1

  std::size_t size() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  byte_view operator[](std::size_t index) const {
    return {bytes.data() + offsets[index], offsets[index + 1] - offsets[index]};
  }
};

/// Writes the key columns of each selected row as bytes: equal keys (as `hash_columns` sees them)
/// have equal bytes, in every process and for ever; the order of bytes means nothing.
///
///     key     null bitmap (ceil(columns / 8) bytes, bit set: NULL), then each value that is not
///     NULL value   fixed width: little endian; string: varint length, bytes;
///             list: varint count, then per element 0 (NULL) or 1 and the value;
///             map: like a list of key and value, sorted by bytes; row: like a key
///
/// @param out  replaced
void encode_keys(const record_batch& batch, std::span<const int> indices, encoded_keys& out);

/// Appends keys to a column builder each. On error nothing is appended.
///
/// @param to  one builder a key column, of its type
/// @errors malformed_message  bytes that `encode_keys` cannot have written for these types
status decode_keys(std::span<const byte_view> keys, std::span<column_builder* const> to);

} // namespace headrace::graph
