#pragma once

#include "libactors/base/clock.hpp"

#include <atomic>

namespace headrace {

/// Stands still until it is moved: the clock of tests and of the simulation. Any thread.
class manual_clock final : public clock {
public:
  /// Starts at `wall_ms` (2024-01-01 UTC) by the wall, and at zero else.
  explicit manual_clock(std::int64_t wall_ms = 1'704'067'200'000) : wall_start_ms_(wall_ms) {}

  std::int64_t now_us() const override { return now_us_.load(std::memory_order_relaxed); }
  std::int64_t wall_ms() const override {
    return wall_start_ms_.load(std::memory_order_relaxed) + now_us() / 1'000;
  }
  void advance_us(std::int64_t by) { now_us_.fetch_add(by, std::memory_order_relaxed); }
  void advance_ms(std::int64_t by) { advance_us(by * 1'000); }
  /// The wall clock is set; `now_us` goes on as before.
  void jump_wall_ms(std::int64_t by) { wall_start_ms_.fetch_add(by, std::memory_order_relaxed); }

private:
  std::atomic<std::int64_t> now_us_{0};
  std::atomic<std::int64_t> wall_start_ms_;
};

} // namespace headrace
