#include "libtask/operator/rank/rank_changes.hpp"

#include "libgraph/data/decode_rows.hpp"
#include "libgraph/data/gather.hpp"
#include "libgraph/data/key_codec.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace headrace::task {
namespace {

template <class T>
graph::buffer_ptr copied(const std::vector<T>& values) {
  auto made = graph::buffer::allocate(values.size() * sizeof(T));
  std::memcpy(made->mutable_data(), values.data(), values.size() * sizeof(T));
  return made;
}

} // namespace

rank_changes::rank_changes(graph::row_type_ptr output_type, bool rank_column,
                           std::shared_ptr<graph::memory_budget> budget)
    : type_(output_type), width_(output_type->child_count() - (rank_column ? 1U : 0U)),
      rows_(std::move(output_type), std::move(budget)) {}

void rank_changes::add(graph::row_kind kind, std::int64_t rank, std::uint32_t row) {
  changes_.push_back({kind, false, static_cast<std::uint32_t>(given_.size()), rank});
  given_.push_back(row);
}

void rank_changes::add(graph::row_kind kind, std::int64_t rank, byte_view row) {
  changes_.push_back({kind, true, static_cast<std::uint32_t>(ends_.size()), rank});
  bytes_.append(row);
  ends_.push_back(bytes_.size());
}

status rank_changes::decode_kept() {
  views_.clear();
  std::size_t begin = 0;
  for (const auto end : ends_) {
    views_.push_back(byte_view(bytes_).substr(begin, end - begin));
    begin = end;
  }
  return graph::decode_rows(views_, width_, rows_);
}

result<graph::record_batch> rank_changes::finish(const graph::record_batch& in) {
  for (std::size_t i = 0; i < width_; ++i)
    rows_.column(i).append_from(in.at(i), given_);
  if (!ends_.empty())
    HEADRACE_CHECK(decode_kept());
  // Rows of the batch lie before the kept ones; unless one kind is all, they are put in order.
  const bool is_in_order = ends_.empty() || given_.empty();
  order_.clear();
  std::vector<graph::row_kind> kinds;
  kinds.reserve(changes_.size());
  for (const auto& each : changes_) {
    order_.push_back(each.is_kept ? each.row + static_cast<std::uint32_t>(given_.size())
                                  : each.row);
    kinds.push_back(each.kind);
  }
  std::vector<graph::column_ptr> columns;
  for (std::size_t i = 0; i < width_; ++i) {
    auto made = rows_.column(i).finish();
    columns.push_back(is_in_order
                          ? std::move(made)
                          : graph::gather_column(*made, order_, graph::string_bytes::share));
  }
  if (width_ < type_->child_count()) {
    auto& ranks = rows_.column(width_);
    for (const auto& each : changes_)
      ranks.append(each.rank);
    columns.push_back(ranks.finish());
  }
  const bool is_insert_only = std::all_of(
      kinds.begin(), kinds.end(), [](auto kind) { return kind == graph::row_kind::insert; });
  graph::record_batch out(type_, changes_.size(), std::move(columns));
  if (!is_insert_only)
    out = out.with_kinds(copied(kinds));
  changes_.clear();
  bytes_.clear();
  ends_.clear();
  given_.clear();
  return out;
}

} // namespace headrace::task
