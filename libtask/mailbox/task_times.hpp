#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace headrace::task {

/// What a subtask does with its time.
enum class task_phase : std::uint8_t {
  busy,           ///< takes a turn, or waits for the thread to take one
  back_pressured, ///< has something to give that nobody takes
  idle,           ///< has nothing to do
};
inline constexpr std::size_t task_phase_count = 3;

/// Sums up where a subtask's time went. The subtask enters phases in its turns, around turns only;
/// any thread reads, the running phase included, and never sees half a change.
class task_times {
public:
  struct totals {
    std::uint64_t busy_us = 0;
    std::uint64_t back_pressured_us = 0;
    std::uint64_t idle_us = 0;
    friend bool operator==(const totals&, const totals&) = default;
  };

  /// Counts what has passed to the phase that ends. The first call begins the count.
  void enter(task_phase next, std::int64_t now_us);
  totals read(std::int64_t now_us) const;

private:
  static constexpr std::int64_t not_begun = -1;

  std::atomic<std::uint32_t> version_{0}; // odd: a change is under way
  std::atomic<task_phase> phase_{task_phase::idle};
  std::atomic<std::int64_t> since_us_{not_begun};
  std::array<std::atomic<std::uint64_t>, task_phase_count> spent_us_{};
};

} // namespace headrace::task
