#pragma once

#include <cstdint>

namespace headrace {

/// Tells time. The only way to know it: tests and the simulation give another one.
class clock {
public:
  virtual ~clock() = default;
  /// Microseconds that never go back; only differences mean something.
  virtual std::int64_t now_us() const = 0;
  /// Milliseconds since 1970-01-01 UTC; may jump.
  virtual std::int64_t wall_ms() const = 0;
};

/// The machine's clocks. Stateless; any thread.
class system_clock final : public clock {
public:
  std::int64_t now_us() const override;
  std::int64_t wall_ms() const override;
};

} // namespace headrace
