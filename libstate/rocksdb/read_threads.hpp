#pragma once

#include "libactors/base/thread_pool_executor.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>

namespace headrace::state {

/// Threads of a task executor that read for its subtasks where reads wait for the disk, which does
/// many at once in the time of one. They are started when they are first wanted. Any thread.
class read_threads {
public:
  /// @param threads  at least 1
  explicit read_threads(int threads);

  /// Calls `piece` once for each number below `count`: on this thread, and on those that have
  /// nothing to do. Nothing waits for a thread: with none free, all calls are made here. Returns
  /// when every call has, so nothing of it goes on when its caller does. `piece` throws nothing.
  /// @returns how many calls other threads have made
  std::size_t run(std::size_t count, const std::function<void(std::size_t)>& piece);

private:
  struct job;

  std::size_t take_free(std::size_t most);

  const std::size_t threads_;
  /// That have been given a job and are not done with it. Their steps may outlive this object.
  std::shared_ptr<std::atomic<std::size_t>> busy_ = std::make_shared<std::atomic<std::size_t>>(0);
  thread_pool_executor pool_;
};

} // namespace headrace::state
