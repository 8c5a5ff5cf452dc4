#pragma once

#include "libactors/base/clock.hpp"

#include <cstdint>

namespace headrace::testing {

/// A clock that stands still until it is moved.
class manual_clock final : public clock {
public:
  std::int64_t now_us() const override { return now_us_; }
  std::int64_t wall_ms() const override { return wall_ms_; }
  void advance_ms(std::int64_t by) {
    now_us_ += by * 1000;
    wall_ms_ += by;
  }

private:
  std::int64_t now_us_ = 0;
  std::int64_t wall_ms_ = 1'700'000'000'000;
};

} // namespace headrace::testing
