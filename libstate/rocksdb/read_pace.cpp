#include "libstate/rocksdb/read_pace.hpp"

#include <algorithm>
#include <cstddef>

namespace headrace::state {

void read_pace::add(std::span<const piece> batch) {
  if (batch.size() < 2)
    return;
  double rows = 0;
  double blocks = 0;
  row_us_.clear();
  for (const auto& one : batch) {
    rows += static_cast<double>(one.rows);
    blocks += static_cast<double>(one.blocks);
    row_us_.push_back(static_cast<double>(one.spent_us) / static_cast<double>(one.rows));
  }
  const auto middle = row_us_.begin() + static_cast<std::ptrdiff_t>(row_us_.size() / 2);
  std::nth_element(row_us_.begin(), middle, row_us_.end());
  is_slow_ = *middle >= (is_slow_ ? limits_.fast_us : limits_.slow_us) &&
             blocks >= limits_.blocks_least * rows;
}

} // namespace headrace::state
