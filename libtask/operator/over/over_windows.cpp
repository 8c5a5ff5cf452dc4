#include "libtask/operator/over/over_windows.hpp"

#include "libgraph/kernel/compare.hpp"

#include <algorithm>

namespace headrace::task {

over_windows::over_windows(const graph::over_spec& spec, const graph::record_batch& rows,
                           std::span<const byte_view> order, std::size_t begin, std::size_t end)
    : frame_(*spec.frame), rows_(rows), order_(order), begin_(begin), end_(end),
      begin_values_(begin), end_values_(end), first_equal_(begin), behind_equal_(begin),
      low_(begin), high_(begin) {
  if (spec.order.empty())
    return;
  value_ = static_cast<std::size_t>(spec.order[0].column);
  sign_ = spec.order[0].is_descending ? -1 : 1;
  if (frame_.first.kind != graph::over_bound::value && frame_.last.kind != graph::over_bound::value)
    return;
  const auto& values = rows.at(value_);
  while (begin_values_ < end_ && values.is_null(begin_values_))
    ++begin_values_;
  while (end_values_ > begin_values_ && values.is_null(end_values_ - 1))
    --end_values_;
}

void over_windows::go_to(std::size_t row) {
  if (row >= behind_equal_) {
    first_equal_ = row;
    behind_equal_ = row + 1;
    while (behind_equal_ < end_ && order_[behind_equal_] == order_[row])
      ++behind_equal_;
  }
  low_ = std::max(low_, first_of(frame_.first, row, low_));
  high_ = std::max(high_, behind(frame_.last, row, high_));
}

std::size_t over_windows::first_of(const graph::over_edge& edge, std::size_t row,
                                   std::size_t from) const {
  switch (edge.kind) {
  case graph::over_bound::unbounded:
    return begin_;
  case graph::over_bound::rows:
    return moved(row, edge.rows);
  case graph::over_bound::peers:
    return first_equal_;
  case graph::over_bound::value:
    break;
  }
  if (!has_bound(edge, row))
    return first_equal_;
  auto out = std::max(from, begin_values_);
  while (out < end_values_ && compare(out, edge, row) < 0)
    ++out;
  return out;
}

std::size_t over_windows::behind(const graph::over_edge& edge, std::size_t row,
                                 std::size_t from) const {
  switch (edge.kind) {
  case graph::over_bound::unbounded:
    return end_;
  case graph::over_bound::rows:
    return moved(row, edge.rows + 1);
  case graph::over_bound::peers:
    return behind_equal_;
  case graph::over_bound::value:
    break;
  }
  if (!has_bound(edge, row))
    return behind_equal_;
  auto out = std::max(from, begin_values_);
  while (out < end_values_ && compare(out, edge, row) <= 0)
    ++out;
  return out;
}

std::size_t over_windows::moved(std::size_t row, std::int64_t by) const {
  const auto before = static_cast<std::int64_t>(row - begin_);
  const auto after = static_cast<std::int64_t>(end_ - row);
  return row + static_cast<std::size_t>(std::clamp(by, -before, after));
}

int over_windows::compare(std::size_t row, const graph::over_edge& edge, std::size_t of) const {
  return sign_ * graph::compare_values(rows_.at(value_), row,
                                       rows_.at(static_cast<std::size_t>(edge.column)), of);
}

bool over_windows::has_bound(const graph::over_edge& edge, std::size_t row) const {
  return !rows_.at(static_cast<std::size_t>(edge.column)).is_null(row);
}

} // namespace headrace::task
