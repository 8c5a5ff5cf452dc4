#include "libgraph/data/record_batch.hpp"

#include "libgraph/data/gather.hpp"
#include "libactors/base/assert.hpp"

#include <limits>
#include <numeric>

namespace headrace::graph {

namespace {

constexpr std::int64_t no_timestamp = std::numeric_limits<std::int64_t>::min();

/// Copies the selected rows' timestamps (or kinds) together; absent ones become `missing`.
template <class T, class Read>
buffer_ptr join_row_values(std::span<const record_batch> batches, std::size_t total, T missing,
                           Read read) {
  bool is_present = false;
  for (const auto& each : batches)
    is_present |= read(each) != nullptr && !each.is_empty();
  if (!is_present)
    return nullptr;
  auto out = buffer::allocate(total * sizeof(T));
  auto* to = out->template mutable_as<T>();
  for (const auto& each : batches) {
    const T* from = read(each);
    for (std::size_t i = 0; i < each.size(); ++i)
      *to++ = from != nullptr ? from[each.row_at(i)] : missing;
  }
  return out;
}

} // namespace

record_batch assemble_batch(std::span<const record_batch> batches, string_bytes strings) {
  const auto& first = batches.front();
  std::size_t total = 0;
  for (const auto& each : batches) {
    HEADRACE_ASSERT(each.column_count() == first.column_count(), "batches of several types");
    total += each.size();
  }
  std::vector<column_ptr> columns;
  columns.reserve(first.column_count());
  std::vector<column_piece> pieces(batches.size());
  for (std::size_t column = 0; column < first.column_count(); ++column) {
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const auto& each = batches[i];
      pieces[i] = {&each.at(column), each.has_selection() ? each.selection().data() : nullptr, 0,
                   each.size()};
    }
    columns.push_back(assemble_column(first.at(column).type(), pieces, strings));
  }
  record_batch out(first.type(), total, std::move(columns));
  if (auto timestamps = join_row_values<std::int64_t>(
          batches, total, no_timestamp, [](const auto& each) { return each.timestamps(); }))
    out = out.with_timestamps(std::move(timestamps));
  if (auto kinds = join_row_values<row_kind>(batches, total, row_kind::insert,
                                             [](const auto& each) { return each.kinds(); }))
    out = out.with_kinds(std::move(kinds));
  return out;
}

record_batch::record_batch(row_type_ptr type, std::size_t row_count,
                           std::vector<column_ptr> columns)
    : type_(std::move(type)), rows_(row_count), columns_(std::move(columns)) {
  for (const auto& each : columns_)
    HEADRACE_ASSERT(each != nullptr && each->size() == rows_, "a column of another size");
}

record_batch record_batch::with_selection(buffer_ptr indices, std::size_t count) const {
  HEADRACE_ASSERT(indices == nullptr || indices->size_bytes() >= count * sizeof(std::uint32_t),
                  "a selection longer than its buffer");
  auto out = *this;
  out.selection_ = std::move(indices);
  out.selected_ = count;
  return out;
}
record_batch record_batch::with_timestamps(buffer_ptr milliseconds) const {
  HEADRACE_ASSERT(milliseconds == nullptr ||
                      milliseconds->size_bytes() >= rows_ * sizeof(std::int64_t),
                  "fewer timestamps than rows");
  auto out = *this;
  out.timestamps_ = std::move(milliseconds);
  return out;
}
record_batch record_batch::with_kinds(buffer_ptr kinds) const {
  HEADRACE_ASSERT(kinds == nullptr || kinds->size_bytes() >= rows_, "fewer row kinds than rows");
  auto out = *this;
  out.kinds_ = std::move(kinds);
  return out;
}
record_batch record_batch::with_columns(row_type_ptr type, std::vector<column_ptr> columns) const {
  record_batch out(std::move(type), rows_, std::move(columns));
  out.selection_ = selection_;
  out.selected_ = selected_;
  out.timestamps_ = timestamps_;
  out.kinds_ = kinds_;
  return out;
}

record_batch record_batch::project(row_type_ptr type, std::span<const int> indices) const {
  std::vector<column_ptr> columns;
  columns.reserve(indices.size());
  for (const int index : indices)
    columns.push_back(columns_[static_cast<std::size_t>(index)]);
  return with_columns(std::move(type), std::move(columns));
}

record_batch record_batch::slice(std::size_t from, std::size_t count) const {
  HEADRACE_ASSERT(from <= size() && count <= size() - from, "a slice beyond the batch");
  if (from == 0 && count == size())
    return *this;
  if (selection_) {
    const byte_view indices(selection_->as<char>() + from * sizeof(std::uint32_t),
                            count * sizeof(std::uint32_t));
    return with_selection(buffer::wrap(indices, selection_), count);
  }
  auto indices = buffer::allocate(count * sizeof(std::uint32_t));
  auto* to = indices->mutable_as<std::uint32_t>();
  std::iota(to, to + count, static_cast<std::uint32_t>(from));
  return with_selection(std::move(indices), count);
}

record_batch record_batch::compact() const {
  return selection_ ? assemble_batch({this, 1}, string_bytes::copy_if_sparse) : *this;
}

record_batch record_batch::compact_if_sparse() const {
  return selection_ && selected_ * 4 < rows_ ? compact() : *this;
}

std::size_t record_batch::retained_bytes() const {
  std::size_t out = 0;
  for (const auto& each : columns_)
    out += each->retained_bytes();
  for (const auto* each : {&selection_, &timestamps_, &kinds_})
    out += *each ? (*each)->size_bytes() : 0;
  return out;
}

record_batch concatenate(std::span<const record_batch> batches) {
  HEADRACE_ASSERT(!batches.empty(), "nothing to concatenate");
  return batches.size() == 1 ? batches.front().compact()
                             : assemble_batch(batches, string_bytes::copy_if_sparse);
}

} // namespace headrace::graph
