#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace::task {

/// Says how many rows a task takes at once, so that what follows from them takes a bounded time: a
/// barrier, a cancellation and all other mail wait for no longer. Measures what rows have cost, and
/// begins with few. Pure. Lives on the task's mailbox.
class batch_pacer {
public:
  static constexpr std::size_t rows_first = 64;
  static constexpr std::size_t rows_most = 4096;
  static constexpr std::int64_t target_us = 20'000;

  std::size_t rows_max() const { return rows_max_; }
  /// The task has worked for so long on what it took last.
  void spent(std::int64_t us) { spent_us_ += us; }
  /// That was so many rows, and is done.
  void done(std::size_t rows);

private:
  std::size_t rows_max_ = rows_first;
  std::int64_t spent_us_ = 0;
};

} // namespace headrace::task
