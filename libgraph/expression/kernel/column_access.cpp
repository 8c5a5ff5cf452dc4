#include "libgraph/expression/kernel/column_access.hpp"

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/gather.hpp"

#include <algorithm>

namespace headrace::graph {
namespace {

std::size_t bitmap_bytes(std::size_t rows) { return (rows + 7) / 8; }

bool is_nested(const logical_type& type) {
  const auto physical = type.physical();
  return physical == physical_type::list || physical == physical_type::map ||
         physical == physical_type::row || physical == physical_type::none;
}

/// Notes which rows are not NULL, 64 at a time: one by one, each would wait for the bits before it.
void note_valid(const operand& from, const row_set& rows, std::uint8_t* bytes) {
  if (from.is_constant && from.values->is_null(0))
    return;
  const auto* valid = from.is_constant ? nullptr : from.values->validity();
  std::size_t group = 0;
  std::uint64_t bits = 0;
  const auto flush = [&] {
    for (auto* to = bytes + group * 8; bits != 0; ++to, bits >>= 8U)
      *to = static_cast<std::uint8_t>(*to | (bits & 0xffU));
  };
  for_each_row(rows, [&](std::size_t row) {
    if (row >> 6U != group) {
      flush();
      group = row >> 6U;
    }
    const std::uint64_t bit =
        valid == nullptr ? 1U : static_cast<unsigned>(valid[row >> 3U]) >> (row & 7U) & 1U;
    bits |= bit << (row & 63U);
  });
  flush();
}

} // namespace

std::shared_ptr<buffer> joined_validity(const kernel_frame& frame) {
  std::shared_ptr<buffer> out;
  const auto bytes = bitmap_bytes(frame.rows.total);
  for (const auto& each : frame.arguments) {
    if (!each.values->has_nulls() || (each.is_constant && !each.values->is_null(0)))
      continue;
    const bool is_first = out == nullptr;
    if (is_first)
      out = frame.buffers.allocate(bytes);
    auto* to = out->mutable_as<std::uint8_t>();
    if (each.is_constant) {
      std::memset(to, 0, bytes);
      return out;
    }
    const auto* from = each.values->validity();
    if (is_first)
      std::memcpy(to, from, bytes);
    else
      for (std::size_t i = 0; i < bytes; ++i)
        to[i] = static_cast<std::uint8_t>(to[i] & from[i]);
  }
  return out;
}

void validity_writer::start() {
  const auto bytes = bitmap_bytes(frame_.rows.total);
  bits_ = frame_.buffers.allocate(bytes);
  at_ = bits_->mutable_as<std::uint8_t>();
  std::memset(at_, 0xff, bytes);
}

text_writer::text_writer(const kernel_frame& frame)
    : values_(frame.buffers.allocate(frame.rows.total * sizeof(string_slot))),
      slots_(values_->mutable_as<string_slot>()), blocks_(frame.buffers.budget()) {
  // Slots of rows that are not computed must name nothing.
  if (!frame.rows.is_dense())
    std::memset(static_cast<void*>(slots_), 0, frame.rows.total * sizeof(string_slot));
}

column_ptr text_writer::finish(const logical_type& type, std::size_t total, buffer_ptr validity) {
  column::parts parts;
  parts.size = total;
  parts.values = std::move(values_);
  parts.validity = std::move(validity);
  parts.data = blocks_.finish();
  return column::make(type, std::move(parts));
}

column_ptr make_fixed(const logical_type& type, std::size_t total, buffer_ptr values,
                      buffer_ptr validity) {
  column::parts parts;
  parts.size = total;
  parts.values = std::move(values);
  parts.validity = std::move(validity);
  return column::make(type, std::move(parts));
}

column_merger::column_merger(const logical_type& type, const row_set& rows, buffer_pool& buffers)
    : type_(type), rows_(rows), width_(static_cast<std::size_t>(type.width_bytes())) {
  if (is_nested(type)) {
    source_of_.assign(rows.total, 0);
    return;
  }
  values_ = buffers.allocate(rows.total * width_);
  if (type.physical() == physical_type::string)
    std::memset(values_->mutable_data(), 0, rows.total * width_);
  validity_ = buffers.allocate(bitmap_bytes(rows.total));
  std::memset(validity_->mutable_data(), 0, bitmap_bytes(rows.total));
}

column_merger::~column_merger() = default;

void column_merger::take(const operand& from, const row_set& rows) {
  if (rows.count == 0)
    return;
  if (is_nested(type_)) {
    sources_.push_back(from);
    for_each_row(rows, [&](std::size_t row) {
      source_of_[row] = static_cast<std::uint32_t>(sources_.size());
    });
    return;
  }
  if (from.values->type().physical() == physical_type::none)
    return; // all NULL
  note_valid(from, rows, validity_->mutable_as<std::uint8_t>());
  if (type_.physical() == physical_type::string) {
    take_strings(from, rows);
    return;
  }
  const auto copy = [&]<class T>(std::type_identity<T>) {
    const reader<T> values(from);
    auto* to = values_->mutable_as<T>();
    for_each_row(rows, [&](std::size_t row) { to[row] = values[row]; });
  };
  switch (width_) {
  case 1:
    return copy(std::type_identity<std::uint8_t>());
  case 2:
    return copy(std::type_identity<std::uint16_t>());
  case 4:
    return copy(std::type_identity<std::uint32_t>());
  case 8:
    return copy(std::type_identity<std::uint64_t>());
  default:
    return copy(std::type_identity<int128>());
  }
}

void column_merger::take_strings(const operand& from, const row_set& rows) {
  const auto shift = static_cast<std::uint32_t>(data_.size());
  data_.insert(data_.end(), from.values->content().data.begin(), from.values->content().data.end());
  auto* to = values_->mutable_as<string_slot>();
  const reader<std::string_view> values(from);
  for_each_row(rows, [&](std::size_t row) {
    if (values.is_null(row))
      return;
    to[row] = values.slot(row);
    if (!to[row].is_inline())
      to[row].place.buffer_index += shift;
  });
}

column_ptr column_merger::finish_nested() {
  column_builder out(type_);
  for (std::size_t row = 0; row < rows_.total; ++row) {
    if (source_of_[row] == 0) {
      out.append_null();
      continue;
    }
    const auto& from = sources_[source_of_[row] - 1];
    const auto at = from.is_constant ? 0 : row;
    if (from.values->type().physical() == physical_type::none || from.values->is_null(at))
      out.append_null();
    else
      out.append_from(*from.values, at);
  }
  return out.finish();
}

column_ptr column_merger::finish() {
  if (is_nested(type_))
    return finish_nested();
  column::parts parts;
  parts.size = rows_.total;
  parts.values = std::move(values_);
  parts.validity = std::move(validity_);
  parts.data = std::move(data_);
  return column::make(type_, std::move(parts));
}

column_ptr operand_as_column(const kernel_frame& frame, std::size_t argument) {
  const auto& from = frame.arguments[argument];
  return from.is_constant ? expand_constant(from.values, frame.rows.total) : from.values;
}

column_ptr expand_constant(const column_ptr& value, std::size_t total) {
  const std::vector<std::uint32_t> rows(total, 0);
  return gather_column(*value, rows, string_bytes::share);
}

} // namespace headrace::graph
