#include "libtask/task/batch_pacer.hpp"

#include <algorithm>
#include <utility>

namespace headrace::task {

void batch_pacer::done(std::size_t rows) {
  const auto spent_us = std::exchange(spent_us_, 0);
  if (rows == 0)
    return; // time, not rows, made the work
  const auto affordable = static_cast<double>(target_us) * static_cast<double>(rows) /
                          static_cast<double>(std::max<std::int64_t>(spent_us, 1));
  // One quick batch says little: it grows step by step.
  const auto most = std::min(rows_max_ * 2, rows_most);
  rows_max_ = affordable >= static_cast<double>(most)
                  ? most
                  : std::max<std::size_t>(static_cast<std::size_t>(affordable), 1);
}

} // namespace headrace::task
