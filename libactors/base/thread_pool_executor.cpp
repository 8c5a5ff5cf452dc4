#include "libactors/base/thread_pool_executor.hpp"

#include "libactors/base/assert.hpp"
#include "libactors/base/limits.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace headrace {

struct thread_pool_executor::state {
  explicit state(int threads_max_in) : threads_max(threads_max_in) {}

  const int threads_max;
  std::mutex guard;
  std::condition_variable work;
  std::condition_variable thread_ended;
  std::deque<std::function<void()>> steps;
  int threads = 0;
  int idle = 0;
  bool ending = false;

  void run() {
    std::unique_lock lock(guard);
    while (true) {
      ++idle;
      work.wait(lock, [&] { return ending || !steps.empty(); });
      --idle;
      if (ending) {
        break;
      }
      auto step = std::move(steps.front());
      steps.pop_front();
      lock.unlock();
      step();
      step = nullptr; // what it holds goes outside of the lock
      lock.lock();
    }
    --threads;
    thread_ended.notify_all();
  }
};

thread_pool_executor::thread_pool_executor(int threads_max)
    : state_(std::make_shared<state>(std::max(1, threads_max))) {}

thread_pool_executor::~thread_pool_executor() {
  bool is_shut_down = false;
  {
    const std::lock_guard lock(state_->guard);
    is_shut_down = state_->ending;
  }
  if (!is_shut_down) {
    shut_down(std::chrono::seconds(10));
  }
}

void thread_pool_executor::submit(std::function<void()> step) {
  {
    const std::lock_guard lock(state_->guard);
    if (state_->ending) {
      return;
    }
    HEADRACE_ASSERT(state_->steps.size() < limits::executor_steps_max, "executor queue overflows");
    state_->steps.push_back(std::move(step));
    if (static_cast<std::size_t>(state_->idle) < state_->steps.size() &&
        state_->threads < state_->threads_max) {
      std::thread([held = state_] { held->run(); }).detach();
      ++state_->threads;
    }
  }
  state_->work.notify_one();
}

bool thread_pool_executor::shut_down(std::chrono::milliseconds deadline) {
  std::deque<std::function<void()>> dropped;
  std::unique_lock lock(state_->guard);
  state_->ending = true;
  dropped.swap(state_->steps);
  state_->work.notify_all();
  return state_->thread_ended.wait_for(lock, deadline, [&] { return state_->threads == 0; });
}

} // namespace headrace
