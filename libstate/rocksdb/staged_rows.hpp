#pragma once

#include "libstate/key/key_batch.hpp"
#include "libstate/keyed/keyed_table.hpp"

#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headrace::state {

/// The distinct rows of one `locate`: their names and copies of their values, between the reading
/// and the writing of them. Kept from batch to batch for its memory. On the mailbox only.
class staged_rows {
public:
  struct row {
    key_ref key; ///< valid during `locate`
    state_namespace space = 0;
    std::uint64_t name_at = 0; ///< in names_
    std::uint64_t value_at = 0;
    std::uint32_t name_size = 0;
    std::uint32_t value_size = 0;
    std::uint32_t batch_row = 0;
    std::uint16_t group = 0;
    bool is_present = false;
    bool is_fresh = false;   ///< present, and not in the database yet
    bool is_changed = false; ///< variable: `replaced` holds the value
  };

  /// Begins a batch of up to `count` rows.
  void begin(std::size_t count);
  /// @returns the index of the row with that key and namespace; it may be new
  std::uint32_t add(const key_ref& key, state_namespace space, std::uint32_t batch_row);
  /// Writes the names of all rows, and orders them by name.
  void name_rows(key_shape shape, std::span<const std::uint16_t> groups);

  bool is_for_reading = false; ///< nothing is to be written back
  std::vector<row> rows;
  std::vector<std::uint32_t> order; ///< rows by name
  std::vector<std::byte> cells;     ///< fixed: values by row, as the caller changes them
  std::vector<std::byte> before;    ///< fixed: values as they were read; not for reading
  byte_string values;               ///< variable: what was read, one behind the other
  std::vector<byte_string> replaced;

  rocksdb::Slice name_of(const row& one) const {
    return {names_.data() + one.name_at, one.name_size};
  }
  byte_view value_of(std::uint32_t index) const {
    const auto& one = rows[index];
    return one.is_changed ? byte_view(replaced[index])
                          : byte_view(values).substr(one.value_at, one.value_size);
  }

private:
  struct sort_entry {
    std::uint64_t high;
    std::uint64_t low;
    std::uint32_t index;
  };
  byte_string names_;
  std::vector<std::uint32_t> slots_; ///< index + 1 by hash; 0: empty
  std::vector<sort_entry> sorted_;
};

} // namespace headrace::state
