#pragma once

#include "libgraph/data/record_batch.hpp"
#include "libgraph/data/string_blocks.hpp"
#include "libactors/base/assert.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace headrace::graph {

/// Appends values to one column. Not thread-safe. No virtual call: the caller uses the append that
/// fits the physical type (checked by assertion in debug builds only).
class column_builder {
public:
  explicit column_builder(logical_type type, std::shared_ptr<memory_budget> budget = nullptr);
  ~column_builder();
  column_builder(column_builder&&) noexcept;
  column_builder& operator=(column_builder&&) noexcept;

  const logical_type& type() const { return type_; }
  void reserve(std::size_t rows);
  std::size_t size() const { return size_; }
  std::size_t size_bytes() const;

  /// T is the physical type: bool (as uint8), intN, int128, float, double.
  template <class T>
  void append(T value) {
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__)
    HEADRACE_ASSERT(sizeof(T) == width_bytes_, "append of another width than the column's");
#endif
    if (size_ == capacity_) [[unlikely]]
      grow(size_ + 1);
    reinterpret_cast<T*>(values_)[size_] = value;
    if (validity_ != nullptr) [[unlikely]]
      set_valid(size_);
    ++size_;
  }
  void append_string(std::string_view value) {
    if (size_ == capacity_) [[unlikely]]
      grow(size_ + 1);
    auto* slot = reinterpret_cast<string_slot*>(values_) + size_;
    if (value.size() <= string_slot::inline_max)
      write_inline_slot(slot, value.data(), value.size());
    else
      append_long(slot, value);
    if (validity_ != nullptr) [[unlikely]]
      set_valid(size_);
    ++size_;
  }
  /// Lets `append_shared` take strings that lie in `owner` (under 4 GiB), whose bytes the column
  /// then keeps alive instead of copying them. Holds until `finish` or another `share`; sharing the
  /// same buffer again costs nothing.
  void share(const buffer_ptr& owner);
  /// Appends a string of the buffer that was shared last; short ones are copied into their slot.
  void append_shared(std::string_view value) {
    if (size_ == capacity_) [[unlikely]]
      grow(size_ + 1);
    auto* slot = reinterpret_cast<string_slot*>(values_) + size_;
    if (value.size() <= string_slot::inline_max) {
      if (value.data() < shared_wide_end_) [[likely]]
        write_inline_slot_wide(slot, value.data(), value.size());
      else
        write_inline_slot(slot, value.data(), value.size());
    } else {
      slot->size = static_cast<std::uint32_t>(value.size());
      std::memcpy(&slot->prefix[0], value.data(), sizeof(slot->prefix));
      slot->place.buffer_index = shared_index_;
      slot->place.offset = static_cast<std::uint32_t>(value.data() - shared_base_);
    }
    if (validity_ != nullptr) [[unlikely]]
      set_valid(size_);
    ++size_;
  }
  void append_null();
  /// Forgets the values behind the first `rows`, and what of an open list or row lies in the
  /// children: a record that turned out malformed leaves no trace.
  void truncate(std::size_t rows);
  /// Opens and closes a list or map entry: append to `child(i)` between.
  void begin_list();
  void end_list();
  /// Ends a row value whose fields were appended to the children.
  void end_row();
  column_builder& child(std::size_t index);
  /// Copies one value of a column of the same type.
  void append_from(const column& source, std::size_t row);
  /// Copies rows of a column of the same type, vectorized; any order, repeats allowed.
  void append_from(const column& source, std::span<const std::uint32_t> rows);

  /// Gives the column and starts anew.
  column_ptr finish();

private:
  void grow(std::size_t rows);
  void append_long(string_slot* slot, std::string_view value);
  void set_valid(std::size_t row) {
    validity_[row >> 3U] = static_cast<std::uint8_t>(validity_[row >> 3U] | (1U << (row & 7U)));
  }
  void start_validity();
  void append_validity(const column& source, std::span<const std::uint32_t> rows);

  logical_type type_;
  physical_type physical_ = physical_type::none;
  std::uint8_t width_bytes_ = 0;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  std::byte* values_ = nullptr;
  std::uint8_t* validity_ = nullptr;
  const char* shared_base_ = nullptr;
  const char* shared_wide_end_ = nullptr; ///< before it, a whole slot can be loaded
  std::uint32_t shared_index_ = 0;
  struct storage;
  std::unique_ptr<storage> storage_;
};

/// Appends rows: one column_builder a field, and timestamps and kinds when rows have them.
class batch_builder {
public:
  explicit batch_builder(row_type_ptr type, std::shared_ptr<memory_budget> budget = nullptr);

  column_builder& column(std::size_t index) { return columns_[index]; }
  /// Ends a row whose fields were appended.
  void end_row() { ++rows_; }
  void end_row(std::int64_t timestamp_ms);
  void end_row(row_kind kind);
  void end_row(row_kind kind, std::int64_t timestamp_ms);
  /// Rows ended at once after vectorized appends to the columns.
  void end_rows(std::size_t count) { rows_ += count; }

  /// Forgets what was appended to the columns since the last row ended.
  void discard_row();

  std::size_t size() const { return rows_; }
  bool is_empty() const { return rows_ == 0; }
  std::size_t size_bytes() const;
  const row_type_ptr& type() const { return type_; }
  /// Gives the batch and starts anew.
  record_batch finish();

private:
  row_type_ptr type_;
  std::shared_ptr<memory_budget> budget_;
  std::vector<column_builder> columns_;
  std::size_t rows_ = 0;
  std::vector<std::int64_t> timestamps_;
  std::vector<row_kind> kinds_;
};

} // namespace headrace::graph
