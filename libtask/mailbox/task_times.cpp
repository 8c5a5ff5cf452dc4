#include "libtask/mailbox/task_times.hpp"

#include <algorithm>

namespace headrace::task {
namespace {

std::uint64_t passed_us(std::int64_t since_us, std::int64_t now_us) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(now_us - since_us, 0));
}

} // namespace

void task_times::enter(task_phase next, std::int64_t now_us) {
  using std::memory_order_relaxed;
  const auto version = version_.load(memory_order_relaxed);
  version_.store(version + 1, memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  if (const auto since_us = since_us_.load(memory_order_relaxed); since_us != not_begun) {
    auto& spent_us = spent_us_[static_cast<std::size_t>(phase_.load(memory_order_relaxed))];
    spent_us.store(spent_us.load(memory_order_relaxed) + passed_us(since_us, now_us),
                   memory_order_relaxed);
  }
  since_us_.store(now_us, memory_order_relaxed);
  phase_.store(next, memory_order_relaxed);
  version_.store(version + 2, std::memory_order_release);
}

task_times::totals task_times::read(std::int64_t now_us) const {
  using std::memory_order_relaxed;
  std::array<std::uint64_t, task_phase_count> spent_us{};
  std::uint32_t version = 0;
  do {
    version = version_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < task_phase_count; ++i)
      spent_us[i] = spent_us_[i].load(memory_order_relaxed);
    if (const auto since_us = since_us_.load(memory_order_relaxed); since_us != not_begun)
      spent_us[static_cast<std::size_t>(phase_.load(memory_order_relaxed))] +=
          passed_us(since_us, now_us);
    std::atomic_thread_fence(std::memory_order_acquire);
  } while (version % 2 != 0 || version != version_.load(memory_order_relaxed));
  return {spent_us[0], spent_us[1], spent_us[2]};
}

} // namespace headrace::task
