#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace headrace::graph {

/// Holds a reader to so many rows a second. Pure: is told the time. What is not used is saved up
/// for at most a second.
class rate_limiter {
public:
  /// @param rows_per_second  0: no limit
  explicit rate_limiter(double rows_per_second) : rate_(rows_per_second) {}

  bool is_limited() const { return rate_ > 0; }

  /// How many rows may be emitted at `now_us` (from the clock, microseconds).
  std::size_t allowance(std::int64_t now_us) {
    if (!is_limited())
      return std::numeric_limits<std::size_t>::max();
    if (started_) {
      const auto gained = static_cast<double>(now_us - last_us_) * rate_ / 1e6;
      saved_ = std::min(saved_ + gained, std::max(1.0, rate_));
    }
    started_ = true;
    last_us_ = now_us;
    return static_cast<std::size_t>(saved_);
  }
  void take(std::size_t rows) {
    if (is_limited())
      saved_ -= static_cast<double>(rows);
  }
  /// How long until a piece worth emitting may go: a row, or what 10 ms bring.
  std::chrono::milliseconds wait() const {
    const auto wanted = std::max(1.0, rate_ / 100);
    const auto missing = std::max(0.0, wanted - saved_);
    return std::chrono::milliseconds(static_cast<std::int64_t>(missing * 1000 / rate_) + 1);
  }

private:
  double rate_;
  double saved_ = 1; ///< the first row goes at once
  std::int64_t last_us_ = 0;
  bool started_ = false;
};

} // namespace headrace::graph
