#include "libgraph/data/batch_builder.hpp"

#include "libactors/base/assert.hpp"

#include <limits>

namespace headrace::graph {

namespace {

constexpr std::int64_t no_timestamp = std::numeric_limits<std::int64_t>::min();

template <class T>
buffer_ptr to_buffer(const std::vector<T>& values, const std::shared_ptr<memory_budget>& budget) {
  auto out = buffer::allocate(values.size() * sizeof(T), budget);
  std::memcpy(out->mutable_data(), values.data(), values.size() * sizeof(T));
  return out;
}

} // namespace

batch_builder::batch_builder(row_type_ptr type, std::shared_ptr<memory_budget> budget)
    : type_(std::move(type)), budget_(std::move(budget)) {
  columns_.reserve(type_->fields().size());
  for (const auto& each : type_->fields())
    columns_.emplace_back(each.type, budget_);
}

void batch_builder::end_row(std::int64_t timestamp_ms) {
  timestamps_.resize(rows_, no_timestamp); // rows that ended without one
  timestamps_.push_back(timestamp_ms);
  ++rows_;
}

void batch_builder::end_row(row_kind kind) {
  if (kind != row_kind::insert || !kinds_.empty()) {
    kinds_.resize(rows_, row_kind::insert);
    kinds_.push_back(kind);
  }
  ++rows_;
}

void batch_builder::end_row(row_kind kind, std::int64_t timestamp_ms) {
  timestamps_.resize(rows_, no_timestamp);
  timestamps_.push_back(timestamp_ms);
  end_row(kind);
}

void batch_builder::discard_row() {
  for (auto& each : columns_)
    each.truncate(rows_);
}

std::size_t batch_builder::size_bytes() const {
  auto out = timestamps_.size() * sizeof(std::int64_t) + kinds_.size();
  for (const auto& each : columns_)
    out += each.size_bytes();
  return out;
}

record_batch batch_builder::finish() {
  std::vector<column_ptr> columns;
  columns.reserve(columns_.size());
  for (auto& each : columns_) {
    HEADRACE_ASSERT(each.size() == rows_, "a column with another number of rows than ended");
    columns.push_back(each.finish());
  }
  record_batch out(type_, rows_, std::move(columns));
  if (!timestamps_.empty()) {
    timestamps_.resize(rows_, no_timestamp);
    out = out.with_timestamps(to_buffer(timestamps_, budget_));
  }
  if (!kinds_.empty()) {
    kinds_.resize(rows_, row_kind::insert);
    out = out.with_kinds(to_buffer(kinds_, budget_));
  }
  timestamps_.clear();
  kinds_.clear();
  rows_ = 0;
  return out;
}

} // namespace headrace::graph
