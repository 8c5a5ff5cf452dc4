#include "libtask/operator/waiting_rows.hpp"

#include "libtask/operator/window/window_time.hpp"
#include "libgraph/data/stream_element.hpp"

#include <algorithm>
#include <utility>

namespace headrace::task {
namespace {

constexpr unsigned bucket_bits = 10;

std::int64_t over_ms(state::state_namespace bucket) { return (bucket + 1) << bucket_bits; }

} // namespace

status waiting_rows::open(state::keyed_backend& backend, const graph::logical_type& type) {
  state::state_description wanted;
  wanted.name = "waiting";
  wanted.value_type = state::bytes_of(type.fields());
  wanted.layout = state::value_layout::variable();
  HEADRACE_TRY(table_, backend.open_table(wanted));
  piece_.emplace(table_->make_piece());
  return {};
}

std::uint64_t waiting_rows::pick(const graph::record_batch& rows, std::size_t time_column,
                                 std::optional<std::int64_t> late_until_ms) {
  rows_.clear();
  places_.clear();
  times_ms_.clear();
  const auto& times = rows.at(time_column);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row_at(i);
    const auto time_ms = times.is_null(row) ? graph::watermark::none : millis_at(times, row);
    if (late_until_ms && time_ms <= *late_until_ms)
      continue;
    rows_.push_back(row);
    places_.push_back(i);
    times_ms_.push_back(time_ms);
  }
  return rows.size() - rows_.size();
}

status waiting_rows::locate(const state::key_batch& keys, std::span<const std::uint32_t> rows,
                            std::span<const std::int64_t> times_ms) {
  spaces_.clear();
  for (const auto time_ms : times_ms)
    spaces_.push_back(time_ms >> bucket_bits);
  return table_->locate(keys, rows, spaces_, state::access::insert, found_);
}

std::optional<std::int64_t> waiting_rows::first_over_ms() const {
  const auto first = table_->first_namespace();
  return first ? std::optional(over_ms(*first)) : std::nullopt;
}

result<bool> waiting_rows::next(std::int64_t passed_ms) {
  if (!bucket_) {
    const auto first = table_->first_namespace();
    if (!first || (*first << bucket_bits) > passed_ms)
      return false;
    bucket_ = first;
    cursor_ = {};
  }
  const auto end_ms = over_ms(*bucket_) - 1;
  is_whole_ = end_ms <= passed_ms;
  limit_ms_ = std::min(end_ms, passed_ms);
  HEADRACE_CHECK(table_->scan(*bucket_, cursor_, keys_a_time_, *piece_));
  bytes_.clear();
  for (std::size_t i = 0; i < piece_->size(); ++i)
    bytes_.emplace_back(piece_->variable[i]);
  changed_.clear();
  rest_.clear();
  return true;
}

void waiting_rows::leave(std::uint32_t index, byte_string rest) {
  changed_.push_back(index);
  rest_.push_back(std::move(rest));
}

result<bool> waiting_rows::finish() {
  if (!is_whole_)
    HEADRACE_CHECK(store_rest());
  if (!cursor_.done)
    return true;
  if (is_whole_)
    HEADRACE_CHECK(table_->drop_namespace(*bucket_));
  bucket_.reset();
  return is_whole_;
}

status waiting_rows::store_rest() {
  HEADRACE_CHECK(table_->locate(piece_->keys, changed_, *bucket_, state::access::update, found_));
  erased_.clear();
  for (std::uint32_t i = 0; i < changed_.size(); ++i) {
    if (rest_[i].empty())
      erased_.push_back(i);
    else
      HEADRACE_CHECK(table_->put(found_, i, rest_[i]));
  }
  HEADRACE_CHECK(table_->erase(found_, erased_));
  return table_->write_back(found_);
}

} // namespace headrace::task
