#pragma once

#include "libstate/key/key_hash.hpp"
#include "libstate/key/key_schema.hpp"
#include "libgraph/data/key_codec.hpp"
#include "libgraph/data/record_batch.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headrace::state {

/// One key by itself: what a table compares and stores. The view is as long-lived as its source.
struct key_ref {
  std::uint64_t hash = 0;
  std::uint64_t fixed = 0; ///< shape fixed
  byte_view bytes;         ///< shape bytes
  bool is_null = false;    ///< shape fixed only; an encoded key holds its NULLs itself
};

/// The keys of one input batch, computed once and used by every table and timer of the operator.
///
/// Indexed by column row, like timestamps and kinds, so that one list of rows serves `locate` and
/// the functions; only the selected rows are filled. Buffers are kept from batch to batch: nothing
/// is allocated per row. Copies what it needs of strings, so it may outlive the batch. One thread.
class key_batch {
public:
  /// @param max_parallelism  number of key groups, 1–32768
  key_batch(key_schema schema, std::int32_t max_parallelism);
  key_batch(key_batch&&) noexcept = default;
  key_batch& operator=(key_batch&&) noexcept = default;

  /// Takes the keys of the selected rows of a batch. `key_columns` name columns of `in` whose types
  /// are the schema's.
  void assign(const graph::record_batch& in, std::span<const std::int32_t> key_columns);
  /// Empties it, to be filled by `append`.
  void clear();
  /// Appends a key of another batch, or of a table's row, as the next row.
  void append(const key_ref& key);
  /// Appends a key from its stored form: 8 little-endian bytes (none: NULL), or the encoded key.
  /// Encoded keys are taken as they are; `to_batch` tells whether they are keys of the schema.
  /// @errors malformed_message  neither 8 bytes nor none, for shape fixed
  status append_stored(byte_view stored);

  /// Column rows of the batch; rows that are not selected hold nothing meaningful.
  std::size_t size() const { return size_; }
  const key_schema& schema() const { return schema_; }
  std::int32_t max_parallelism() const { return max_parallelism_; }

  /// Shape bytes: 64-bit hashes for directories, by row. They are this library's own: not those of
  /// an exchange. Those of fixed keys (key_hash.hpp) cost less to compute than to keep.
  const std::uint64_t* hashes() const { return hashes_.data(); }
  /// Shape fixed: the keys by row.
  const std::uint64_t* fixed() const { return fixed_.data(); }
  /// Shape fixed: one byte a row, 1 for NULL; nullptr when no key is NULL.
  const std::uint8_t* nulls() const { return has_nulls_ ? nulls_.data() : nullptr; }
  /// Shape bytes: the encoded keys by row.
  const byte_view* bytes() const { return bytes_.data(); }
  key_ref at(std::size_t row) const {
    if (!schema_.is_fixed())
      return {hashes_[row], 0, bytes_[row], false};
    if (has_nulls_ && nulls_[row] != 0)
      return {hash_of_null, 0, {}, true};
    return {hash_of_fixed(fixed_[row]), fixed_[row], {}, false};
  }

  /// The key group of each row that holds a key, by column row. Computed at the first call, and for
  /// what was appended since; valid until the batch changes. @errors as to_batch
  result<std::span<const std::uint16_t>> key_groups() const;

  // The rest is for batches of which every row holds a key: filled by `append`, or from a batch
  // without selection.

  /// The keys as a batch of the key columns, row for row: fresh columns that pin nothing.
  /// @errors malformed_message  a key that was appended in its stored form is none of the schema
  result<graph::record_batch> to_batch() const;
  /// Writes the key group of each row. @errors as to_batch
  status groups(std::vector<std::uint16_t>& out) const;

private:
  void resize(std::size_t rows);
  void assign_fixed(const graph::record_batch& in, const graph::column& source);
  void assign_bytes(const graph::record_batch& in, std::span<const std::int32_t> key_columns);
  void groups_of_fixed(std::size_t first) const;
  status groups_of_bytes(std::span<const byte_view> keys) const;

  key_schema schema_;
  std::int32_t max_parallelism_;
  std::size_t size_ = 0;
  bool has_nulls_ = false;
  std::vector<std::uint64_t> hashes_; ///< shape bytes
  std::vector<std::uint64_t> fixed_;
  std::vector<std::uint8_t> nulls_;
  std::vector<byte_view> bytes_;
  graph::encoded_keys encoded_;
  std::vector<std::uint32_t> selected_; ///< rows that hold keys, when not all do
  mutable std::vector<std::uint16_t> groups_;
  mutable std::size_t grouped_ = 0; ///< rows of which the groups are known
  mutable std::vector<std::uint64_t> group_hashes_;
};

} // namespace headrace::state
