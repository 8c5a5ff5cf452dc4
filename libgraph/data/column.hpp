#pragma once

#include "libgraph/data/buffer.hpp"
#include "libgraph/types/logical_type.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace headrace::graph {

/// Arrow's 16-byte string view: up to 12 bytes inline, else a 4-byte prefix and a place in one of
/// the column's data buffers. Position-independent. Unused inline bytes are zero, so equal short
/// strings are equal 16 bytes.
struct alignas(16) string_slot {
  struct data_place {
    std::uint32_t buffer_index;
    std::uint32_t offset;
  };
  std::uint32_t size = 0;
  char prefix[4] = {};
  union {
    char rest[8];
    data_place place;
  };
  static constexpr std::uint32_t inline_max = 12;
  string_slot() : rest{} {}
  bool is_inline() const { return size <= inline_max; }
  /// The first of 12 bytes: those of the prefix and the rest.
  const char* inline_data() const { return reinterpret_cast<const char*>(this) + sizeof(size); }
};
static_assert(sizeof(string_slot) == 16);

class column;
using column_ptr = std::shared_ptr<const column>;

/// One immutable column of values in Arrow's layouts.
///
/// values     fixed width: `size` values; string: `size` string_slots; list and map: `size + 1`
///            int32 offsets into the children; row: none
/// validity   bit i (of byte i / 8) is 1 when value i is not NULL; absent: no NULLs
/// data       the bytes behind string_slots that are not inline
/// children   list: element; map: key, value; row: the fields (each of `size`)
///
/// Booleans take one byte (kernels want bytes; Arrow would take a bit). Shared freely; any thread.
class column {
public:
  struct parts {
    std::size_t size = 0;
    buffer_ptr values;
    buffer_ptr validity;
    std::vector<buffer_ptr> data;
    std::vector<column_ptr> children;
  };
  /// `parts` must agree with `type`; checked by `validate` where bytes come from outside.
  column(logical_type type, parts content);
  static column_ptr make(logical_type type, parts content) {
    return std::make_shared<const column>(std::move(type), std::move(content));
  }

  const logical_type& type() const { return type_; }
  std::size_t size() const { return parts_.size; }
  const parts& content() const { return parts_; }

  bool has_nulls() const { return parts_.validity != nullptr; }
  bool is_null(std::size_t row) const {
    return validity_ != nullptr && ((validity_[row >> 3U] >> (row & 7U)) & 1U) == 0U;
  }
  const std::uint8_t* validity() const { return validity_; }

  /// The fixed-width values (or offsets); T must be the physical type.
  template <class T>
  const T* values() const {
    return static_cast<const T*>(values_);
  }
  const string_slot* slots() const { return values<string_slot>(); }
  /// Reads a string in place; valid as long as this column (its buffers) lives.
  std::string_view string_at(std::size_t row) const {
    const auto& slot = slots()[row];
    return {slot.is_inline() ? slot.inline_data()
                             : data_pointers_[slot.place.buffer_index] + slot.place.offset,
            slot.size};
  }
  const column& child(std::size_t index) const { return *parts_.children[index]; }

  /// Memory that this column holds alive, shared buffers counted whole.
  std::size_t retained_bytes() const;
  /// Checks every offset, view and size. @errors malformed_message
  status validate() const;

private:
  logical_type type_;
  parts parts_;
  const std::uint8_t* validity_ = nullptr;
  const void* values_ = nullptr;
  std::vector<const char*> data_pointers_;
};

} // namespace headrace::graph
