#include "libstate/rocksdb/read_threads.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

namespace headrace::state {

TEST_SUITE("state/rocksdb/read_threads") {
TEST_CASE("each call is made once, and has returned when `run` does") {
  read_threads threads(4);
  for (std::size_t count = 0; count < 200; ++count) {
    std::vector<int> calls(count, 0); // no atomics: what was written is there
    const auto by_others = threads.run(count, [&](std::size_t at) { ++calls[at]; });
    CHECK(by_others <= count);
    CHECK(calls == std::vector<int>(count, 1));
  }
}

TEST_CASE("calls are made at once") {
  read_threads threads(2);
  std::latch all(3); // none returns before all have begun

  const auto by_others = threads.run(3, [&](std::size_t) { all.arrive_and_wait(); });

  CHECK(by_others == 2);
}

TEST_CASE("with no thread free all calls are made here") {
  read_threads threads(1);
  std::latch is_busy(2);
  std::latch may_end(1);
  std::thread other([&] {
    threads.run(2, [&](std::size_t) {
      is_busy.arrive_and_wait();
      may_end.wait();
    });
  });
  is_busy.wait();

  const auto here = std::this_thread::get_id();
  const auto by_others =
      threads.run(10, [&](std::size_t) { CHECK(std::this_thread::get_id() == here); });

  CHECK(by_others == 0);
  may_end.count_down();
  other.join();
}

TEST_CASE("many callers share few threads, which go while nobody calls") {
  constexpr std::size_t callers = 6;
  for (int round = 0; round < 20; ++round) {
    auto threads = std::make_unique<read_threads>(3);
    std::atomic<std::uint64_t> sum = 0;
    std::vector<std::thread> running;
    for (std::size_t caller = 0; caller < callers; ++caller)
      running.emplace_back([&] {
        for (int i = 0; i < 50; ++i) {
          std::vector<std::uint64_t> made(40, 0);
          threads->run(made.size(), [&](std::size_t at) { made[at] = at; });
          for (const auto one : made)
            sum += one;
        }
      });
    for (auto& one : running)
      one.join();
    threads.reset(); // steps may still wait for their turn
    CHECK(sum == callers * 50 * (39 * 40 / 2));
  }
}
} // TEST_SUITE("state/rocksdb/read_threads")

} // namespace headrace::state
