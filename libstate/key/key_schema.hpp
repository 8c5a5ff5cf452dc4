#pragma once

#include "libgraph/data/record_batch.hpp"
#include "libgraph/types/logical_type.hpp"

#include <cstdint>
#include <span>

namespace headrace::state {

/// How a key is held: `fixed` as 8 bytes (one column of a physical type of at most 8 bytes, widened
/// by its sign or bit pattern), `bytes` in the canonical encoding of libgraph/data/key_codec.
enum class key_shape : std::uint8_t { fixed = 1, bytes = 2 };

/// Types of the key columns of one keyed stream, in order. Immutable; shared by all that see keys.
class key_schema {
public:
  /// `type` is a row of the key columns; at least one.
  explicit key_schema(graph::row_type_ptr type);
  /// The key columns of a stream's row type.
  key_schema(const graph::logical_type& row_type, std::span<const std::int32_t> key_columns);

  const graph::row_type_ptr& type() const { return type_; }
  key_shape shape() const { return shape_; }
  bool is_fixed() const { return shape_ == key_shape::fixed; }
  std::size_t column_count() const { return type_->fields().size(); }

  /// The key, and behind it one more column: what the rows of a table with entries are found by.
  /// They are of the key group of the key alone.
  key_schema with_entry(const graph::logical_type& entry) const;
  /// How many columns, the first ones, say of which key group a row is.
  std::size_t group_columns() const { return group_columns_; }

private:
  graph::row_type_ptr type_;
  std::size_t group_columns_ = 0;
  key_shape shape_ = key_shape::bytes;
};

} // namespace headrace::state
