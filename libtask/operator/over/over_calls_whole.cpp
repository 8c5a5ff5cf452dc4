#include "libtask/operator/over/over_calls.hpp"
#include "libtask/operator/over/over_windows.hpp"

#include <algorithm>

// Calls over whole partitions: any window, and functions that need all rows.
namespace headrace::task {

void over_calls::compute_whole(const graph::record_batch& rows, std::span<const byte_view> order,
                               const over_segment& of) {
  std::fill(group_.begin(), group_.end(), std::byte{});
  for (auto& each : calls_)
    begin(each);
  over_windows windows(spec_, rows, order, of.begin, of.end);
  over_rank rank;
  rank.size = static_cast<std::int64_t>(of.end - of.begin);
  // The rows that the sums are of.
  auto low = of.begin;
  auto high = of.begin;
  for (auto row = of.begin; row < of.end; ++row) {
    windows.go_to(row);
    for (; low < windows.low() && low < high; ++low)
      leave(rows, static_cast<std::uint32_t>(low), group_.data());
    if (high < windows.low())
      low = high = windows.low();
    for (; high < windows.high(); ++high)
      enter(rows, static_cast<std::uint32_t>(high), group_.data());
    if (is_bounded() && cells_.has_lost_sum(group_.data()))
      sum_again(rows, low, high);
    ++rank.number;
    if (windows.first_equal() == row) {
      rank.rank = rank.number;
      ++rank.dense_rank;
    }
    rank.up_to_equal = static_cast<std::int64_t>(windows.behind_equal() - of.begin);
    give(rows, of, static_cast<std::uint32_t>(row), low, high, group_.data(), rank);
  }
}

void over_calls::give_ahead(const graph::record_batch& rows, call& of, std::uint32_t row,
                            std::size_t end) {
  const auto ahead = offset_of(rows, of, row);
  const bool is_there = ahead >= 0 && static_cast<std::uint64_t>(ahead) < end - row;
  const bool is_default = !is_there && of.otherwise >= 0;
  of.rows.push_back(is_there     ? row + static_cast<std::uint32_t>(ahead)
                    : is_default ? row
                                 : nothing);
  of.is_default.push_back(is_default ? 1 : 0);
}

std::int64_t over_calls::bucket_of(const graph::record_batch& rows, const call& of,
                                   std::uint32_t row, const over_rank& rank) {
  const auto buckets = std::max<std::int64_t>(offset_of(rows, of, row), 1);
  // The first buckets have one row more where the rows do not go up in them.
  const auto least = rank.size / buckets;
  const auto longer = rank.size % buckets;
  const auto before = rank.number - 1;
  const auto in_longer = longer * (least + 1);
  return before < in_longer ? before / (least + 1) + 1 : longer + (before - in_longer) / least + 1;
}

} // namespace headrace::task
