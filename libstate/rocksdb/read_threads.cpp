#include "libstate/rocksdb/read_threads.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace headrace::state {

/// One `run`. A thread that comes when all numbers are taken touches nothing but this.
struct read_threads::job {
  job(std::size_t count_in, const std::function<void(std::size_t)>& piece_in)
      : count(count_in), piece(piece_in) {}

  const std::size_t count;
  const std::function<void(std::size_t)>& piece; ///< valid while a call is due
  std::atomic<std::size_t> next = 0;
  std::mutex guard;
  std::condition_variable all_done;
  std::size_t done = 0;

  /// @returns how many calls this thread has made
  std::size_t work() {
    std::size_t made = 0;
    for (auto at = next.fetch_add(1); at < count; at = next.fetch_add(1)) {
      piece(at);
      ++made;
      const std::lock_guard lock(guard);
      if (++done == count)
        all_done.notify_one();
    }
    return made;
  }
};

read_threads::read_threads(int threads)
    : threads_(static_cast<std::size_t>(std::max(threads, 1))), pool_(std::max(threads, 1)) {}

std::size_t read_threads::take_free(std::size_t most) {
  auto busy = busy_->load();
  std::size_t taken = 0;
  do {
    taken = std::min(most, threads_ - busy);
  } while (!busy_->compare_exchange_weak(busy, busy + taken));
  return taken;
}

std::size_t read_threads::run(std::size_t count, const std::function<void(std::size_t)>& piece) {
  if (count == 0)
    return 0;
  const auto shared = std::make_shared<job>(count, piece);
  for (auto others = take_free(count - 1); others > 0; --others) {
    pool_.submit([shared, busy = busy_] {
      shared->work();
      busy->fetch_sub(1);
    });
  }
  const auto made = shared->work();
  std::unique_lock lock(shared->guard);
  shared->all_done.wait(lock, [&] { return shared->done == count; });
  return count - made;
}

} // namespace headrace::state
