#pragma once

#include "libgraph/data/record_batch.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace headrace::graph {

/// Reads the fields of one selected row in place. Two words: pass it by value; valid as long as its
/// batch lives.
class row_view {
public:
  /// @param index  the index of the selected row, below batch.size()
  row_view(const record_batch& batch, std::size_t index)
      : batch_(&batch), row_(batch.row_at(index)) {}

  std::size_t field_count() const { return batch_->column_count(); }
  bool is_null(std::size_t field) const { return batch_->at(field).is_null(row_); }
  /// T is the physical type of the field (boolean: bool). Meaningless for NULL.
  template <class T>
  T get(std::size_t field) const {
    if constexpr (std::is_same_v<T, bool>)
      return batch_->at(field).values<std::uint8_t>()[row_] != 0;
    else
      return batch_->at(field).values<T>()[row_];
  }
  std::string_view get_string(std::size_t field) const { return batch_->at(field).string_at(row_); }

  row_kind kind() const { return batch_->kinds() ? batch_->kinds()[row_] : row_kind::insert; }
  bool has_timestamp() const { return batch_->timestamps() != nullptr; }
  /// Event-time milliseconds; the least value when the row has none.
  std::int64_t timestamp_ms() const {
    return batch_->timestamps() ? batch_->timestamps()[row_]
                                : std::numeric_limits<std::int64_t>::min();
  }

  /// For nested fields: the column, and this row's place in it.
  const column& column_of(std::size_t field) const { return batch_->at(field); }
  std::size_t column_row() const { return row_; }

private:
  const record_batch* batch_;
  std::size_t row_;
};

} // namespace headrace::graph
