#include "libtask/operator/async/async_calls.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <vector>

namespace headrace::task {
namespace {

using places = std::vector<async_calls::place>;

graph::async_wait_spec spec_of(std::int64_t timeout_ms, graph::async_retry_spec retry = {}) {
  return {{0}, false, timeout_ms, 100, retry};
}

struct passed {
  places timed_out;
  places again;
};
passed pass(async_calls& calls, std::int64_t now_ms) {
  passed out;
  calls.pass(now_ms, out.timed_out, out.again);
  return out;
}

} // namespace

TEST_SUITE_BEGIN("task/operator/async/async_calls");

TEST_CASE("a call is known until its row is finished, and never again") {
  async_calls calls(spec_of(0));
  const auto first = calls.begin(3, 0);
  const auto other = calls.begin(0, 0);
  CHECK(calls.find(first) == std::optional<async_calls::place>(3));
  CHECK(calls.find(other) == std::optional<async_calls::place>(0));

  calls.finish(3);
  CHECK_FALSE(calls.find(first));
  const auto next = calls.begin(3, 0); // another row at the same place
  CHECK_FALSE(calls.find(first));
  CHECK(calls.find(next) == std::optional<async_calls::place>(3));
  CHECK_FALSE(calls.next_ms()); // without a timeout nothing is due
}

TEST_CASE("a row's time is over once, unless it is finished before") {
  async_calls calls(spec_of(100));
  calls.begin(0, 1000);
  calls.begin(1, 1010);
  calls.begin(2, 1020);
  CHECK(calls.next_ms() == 1100);
  calls.finish(0);

  CHECK(calls.next_ms() == 1100); // one alarm for all that leave in time
  CHECK(pass(calls, 1100).timed_out.empty());
  CHECK(calls.next_ms() == 1110);
  CHECK(pass(calls, 1109).timed_out.empty());
  CHECK(pass(calls, 1110).timed_out == places{1});
  CHECK(pass(calls, 5000).timed_out == places{2});
  CHECK_FALSE(calls.next_ms());
}

TEST_CASE("calls are made again after a delay, and the timeout is over all of them") {
  async_calls calls(spec_of(100, {5, 30, 30, 1}));
  const auto first = calls.begin(0, 0);
  CHECK(calls.try_again(0, 10));
  CHECK_FALSE(calls.find(first)); // what comes of it later is ignored
  CHECK_FALSE(calls.awaited(0));
  CHECK(calls.next_ms() == 40);
  CHECK(pass(calls, 39).again.empty());
  CHECK(pass(calls, 40).again == places{0});
  const auto second = calls.call_again(0);
  CHECK(calls.awaited(0) == second);
  CHECK(calls.call_count(0) == 2);

  CHECK(calls.try_again(0, 90));
  const auto late = pass(calls, 120); // both are due: the timeout is first
  CHECK(late.timed_out == places{0});
  CHECK(late.again.empty());
  calls.call_again(0);
  CHECK_FALSE(calls.try_again(0, 120));
}

TEST_CASE("as many further calls are made as there may be, each after a longer delay") {
  async_calls calls(spec_of(0, {4, 10, 35, 2}));
  calls.begin(7, 0);
  std::int64_t now_ms = 0;
  std::vector<std::int64_t> delays;
  while (calls.try_again(7, now_ms)) {
    const auto due_ms = *calls.next_ms();
    delays.push_back(due_ms - now_ms);
    now_ms = due_ms;
    CHECK(pass(calls, now_ms).again == places{7});
    calls.call_again(7);
  }
  CHECK(delays == std::vector<std::int64_t>{10, 20, 35, 35});
  CHECK(calls.call_count(7) == 5);
}

TEST_CASE("deadlines of rows that have left are forgotten behind one that stays") {
  async_calls calls(spec_of(1'000'000));
  calls.begin(0, 0);
  for (std::int64_t i = 0; i < 100'000; ++i) {
    calls.begin(1, i);
    calls.finish(1);
  }
  CHECK(calls.deadline_count() < 3000);
  CHECK(pass(calls, 1'000'000).timed_out == places{0});
}

TEST_SUITE_END();

} // namespace headrace::task
