#pragma once

#include "libactors/base/executor.hpp"

#include <chrono>
#include <memory>

namespace headrace {

/// Runs steps on threads of its own, first come first served. A thread is started when a step
/// comes and none is idle, up to the given number. Any thread may submit.
class thread_pool_executor final : public executor {
public:
  explicit thread_pool_executor(int threads_max);
  /// As `shut_down` with 10 s, unless that was called.
  ~thread_pool_executor() override;
  thread_pool_executor(const thread_pool_executor&) = delete;
  thread_pool_executor& operator=(const thread_pool_executor&) = delete;

  void submit(std::function<void()> step) override;
  /// Drops what waits and awaits what runs. A step that does not return in time keeps its thread,
  /// which touches nothing of this object any more. @returns whether all returned in time
  bool shut_down(std::chrono::milliseconds deadline);

private:
  struct state;
  std::shared_ptr<state> state_;
};

} // namespace headrace
