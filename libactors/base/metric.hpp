#pragma once

#include <atomic>
#include <cstdint>

namespace headrace {

/// Counts; one writer, any number of readers, no lock.
class counter {
public:
  void add(std::uint64_t by = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
  std::atomic<std::uint64_t> value_{0};
};

/// Holds the newest value; one writer, any number of readers.
class gauge {
public:
  void set(std::int64_t value) { value_.store(value, std::memory_order_relaxed); }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
  std::atomic<std::int64_t> value_{0};
};

} // namespace headrace
