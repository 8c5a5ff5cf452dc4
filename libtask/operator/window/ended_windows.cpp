#include "libtask/operator/window/ended_windows.hpp"

#include <cstring>
#include <utility>

namespace headrace::task {

void ended_windows::pick(const graph::record_batch& rows, bool takes_late) {
  rows_.clear();
  late_.clear();
  spaces_.clear();
  const auto* ends = rows.at(end_column_).values<std::int64_t>();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row_at(i);
    if (!takes_late && last_ms_of(ends[row]) <= time_ms_) {
      late_.push_back(row);
      continue;
    }
    rows_.push_back(row);
    spaces_.push_back(ends[row]);
  }
}

graph::record_batch ended_windows::picked(const graph::record_batch& from) const {
  auto selection = graph::buffer::allocate(rows_.size() * sizeof(std::uint32_t));
  std::memcpy(selection->mutable_data(), rows_.data(), rows_.size() * sizeof(std::uint32_t));
  return from.with_selection(std::move(selection), rows_.size());
}

std::optional<std::int64_t> ended_windows::first_over_ms(const state::keyed_table& of) const {
  const auto first = of.first_namespace();
  return first ? std::optional(time_.instant_ms(*first)) : std::nullopt;
}

bool ended_windows::begin(const state::keyed_table& of) {
  if (at_hand_)
    return true;
  const auto first = of.first_namespace();
  if (!first || last_ms_of(*first) > time_ms_)
    return false;
  at_hand_ = first;
  cursor_ = {};
  return true;
}

status ended_windows::drop(state::keyed_table& of) {
  HEADRACE_CHECK(of.drop_namespace(*at_hand_));
  at_hand_.reset();
  return {};
}

} // namespace headrace::task
