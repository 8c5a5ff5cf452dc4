#pragma once

#include "libgraph/data/column.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace headrace::graph {

/// What a row does to the table that a stream describes.
enum class row_kind : std::uint8_t { insert = 0, update_before = 1, update_after = 2, delete_ = 3 };

/// The row type that batches of one stream share.
using row_type_ptr = std::shared_ptr<const logical_type>;

/// Rows in columns: immutable, cheap to copy and to move between actors, any thread may read.
///
/// `row_count` rows lie in the columns. A selection picks some of them, in order: indices into the
/// columns. What a stream carries is the selected rows (all, without selection). Timestamps (event
/// time, milliseconds) and row kinds, when present, lie like columns: by column row, not by
/// selected row.
class record_batch {
public:
  record_batch() = default;
  record_batch(row_type_ptr type, std::size_t row_count, std::vector<column_ptr> columns);

  bool is_empty() const { return size() == 0; }
  /// Selected rows.
  std::size_t size() const { return selection_ ? selected_ : rows_; }
  /// Rows in the columns.
  std::size_t row_count() const { return rows_; }
  const row_type_ptr& type() const { return type_; }
  std::size_t column_count() const { return columns_.size(); }
  const column& at(std::size_t index) const { return *columns_[index]; }
  const column_ptr& column_at(std::size_t index) const { return columns_[index]; }
  const std::vector<column_ptr>& columns() const { return columns_; }

  bool has_selection() const { return selection_ != nullptr; }
  /// Indices of the selected rows, ascending; empty without selection.
  std::span<const std::uint32_t> selection() const {
    return selection_ ? std::span(selection_->as<std::uint32_t>(), selected_)
                      : std::span<const std::uint32_t>();
  }
  /// The column row of the i-th selected row.
  std::uint32_t row_at(std::size_t index) const {
    return selection_ ? selection_->as<std::uint32_t>()[index] : static_cast<std::uint32_t>(index);
  }

  /// Event-time milliseconds by column row; nullptr: rows have no timestamp.
  const std::int64_t* timestamps() const {
    return timestamps_ ? timestamps_->as<std::int64_t>() : nullptr;
  }
  /// By column row; nullptr: all insert.
  const row_kind* kinds() const { return kinds_ ? kinds_->as<row_kind>() : nullptr; }

  // Each shares what it does not change.
  record_batch with_selection(buffer_ptr indices, std::size_t count) const;
  record_batch with_timestamps(buffer_ptr milliseconds) const;
  record_batch with_kinds(buffer_ptr kinds) const;
  record_batch with_columns(row_type_ptr type, std::vector<column_ptr> columns) const;
  record_batch project(row_type_ptr type, std::span<const int> indices) const;
  /// The selected rows [from, from + count) as a batch (a selection over the same columns).
  record_batch slice(std::size_t from, std::size_t count) const;
  /// Copies the selected rows together; itself when there is no selection. String bytes are copied
  /// too when they would pin more than four times their size.
  record_batch compact() const;
  /// `compact` when fewer than a quarter of the rows are selected, else itself.
  record_batch compact_if_sparse() const;

  const buffer_ptr& timestamps_buffer() const { return timestamps_; }
  const buffer_ptr& kinds_buffer() const { return kinds_; }

  /// Bytes held alive: what credit and memory budgets count.
  std::size_t retained_bytes() const;

private:
  row_type_ptr type_;
  std::size_t rows_ = 0;
  std::size_t selected_ = 0;
  std::vector<column_ptr> columns_;
  buffer_ptr selection_;
  buffer_ptr timestamps_;
  buffer_ptr kinds_;
};

/// Copies the selected rows of several batches of one type into one. `batches` is not empty.
record_batch concatenate(std::span<const record_batch> batches);

} // namespace headrace::graph
