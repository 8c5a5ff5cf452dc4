#include "libactors/base/thread_pool_executor.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <latch>

using namespace headrace;
using std::chrono::milliseconds;

TEST_SUITE("actors/base/thread_pool_executor") {

TEST_CASE("steps run at once on as many threads as are allowed") {
  std::latch both(2);
  std::promise<void> done;
  thread_pool_executor pool(2);

  // Each waits for the other, so neither returns unless both run.
  pool.submit([&] { both.arrive_and_wait(); });
  pool.submit([&] {
    both.arrive_and_wait();
    done.set_value();
  });

  done.get_future().wait();
  CHECK(pool.shut_down(milliseconds(10'000)));
}

TEST_CASE("what waits at the end is dropped, and what comes later too") {
  std::latch begun(1);
  std::latch release(1);
  std::atomic<int> ran{0};
  thread_pool_executor pool(1);
  pool.submit([&] {
    begun.count_down();
    release.wait();
    ++ran;
  });
  pool.submit([&] { ++ran; });
  begun.wait();

  CHECK(!pool.shut_down(milliseconds(1))); // the first one is stuck
  pool.submit([&] { ++ran; });
  release.count_down();

  CHECK(pool.shut_down(milliseconds(10'000)));
  CHECK(ran == 1);
}

} // TEST_SUITE("actors/base/thread_pool_executor")
