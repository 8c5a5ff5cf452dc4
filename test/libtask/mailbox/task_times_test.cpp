#include "libtask/mailbox/task_times.hpp"

#include <doctest/doctest.h>

#include <thread>

using headrace::task::task_phase;
using headrace::task::task_times;

TEST_SUITE("task/mailbox/task_times") {
TEST_CASE("time goes to the phase that it was spent in") {
  task_times times;
  CHECK(times.read(50) == task_times::totals{0, 0, 0});

  times.enter(task_phase::idle, 100);
  times.enter(task_phase::busy, 110);
  times.enter(task_phase::back_pressured, 140);
  times.enter(task_phase::busy, 240);

  CHECK(times.read(240) == task_times::totals{30, 100, 10});
}

TEST_CASE("the running phase counts") {
  task_times times;
  times.enter(task_phase::back_pressured, 100);

  CHECK(times.read(350) == task_times::totals{0, 250, 0});
  CHECK(times.read(90) == task_times::totals{0, 0, 0}); // a reader's clock may be behind
}

TEST_CASE("a reader never sees half a change") {
  task_times times;
  constexpr std::int64_t rounds = 200'000;
  std::thread writer([&] {
    // At each even time the phase is busy for one, then idle for one.
    for (std::int64_t now = 0; now < rounds; ++now)
      times.enter(now % 2 == 0 ? task_phase::busy : task_phase::idle, now);
  });
  std::uint64_t wrong = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto seen = times.read(0); // the running phase adds nothing
    const auto both = static_cast<std::int64_t>(seen.busy_us - seen.idle_us);
    wrong += both == 0 || both == 1 ? 0 : 1;
  }
  writer.join();

  CHECK(wrong == 0);
  CHECK(times.read(rounds) == task_times::totals{rounds / 2, 0, rounds / 2});
}
} // TEST_SUITE("task/mailbox/task_times")
