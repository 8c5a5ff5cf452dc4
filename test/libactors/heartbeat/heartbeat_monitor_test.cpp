#include "libactors/heartbeat/heartbeat_monitor.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace headrace::actors;
using std::chrono::milliseconds;

namespace {

using monitor = heartbeat_monitor<std::string>;
using names = std::vector<std::string>;
constexpr heartbeat_options every_second{.interval = milliseconds(1'000),
                                         .timeout = milliseconds(5'000)};
constexpr std::int64_t second = 1'000'000;

} // namespace

TEST_SUITE("actors/heartbeat/heartbeat_monitor") {

TEST_CASE("a heartbeat is sent at once and then every interval") {
  monitor watch(every_second);
  watch.add("a", 0);

  CHECK(watch.advance(0).to_send == names{"a"});
  CHECK(watch.advance(second / 2).to_send.empty());
  CHECK(watch.advance(second).to_send == names{"a"});
}

TEST_CASE("a peer that is silent for the time-out is lost, and told once") {
  monitor watch(every_second);
  watch.add("silent", 0);
  watch.add("alive", 0);
  for (int i = 0; i < 5; ++i) {
    CHECK(watch.advance(i * second).lost.empty());
    watch.on_heard("alive", i * second);
  }

  const auto due = watch.advance(5 * second);

  CHECK(due.lost == names{"silent"});
  CHECK(due.to_send == names{"alive"});
  CHECK(!watch.watches("silent"));
  CHECK(!watch.on_heard("silent", 6 * second));
  CHECK(watch.advance(6 * second).lost.empty());
}

TEST_CASE("a removed peer is not lost, and an added one starts anew") {
  monitor watch(every_second);
  watch.add("a", 0);
  watch.add("b", 0);
  watch.advance(0);
  watch.remove("a");
  watch.advance(3 * second);
  watch.add("b", 4 * second);

  CHECK(watch.advance(5 * second).lost.empty());
  CHECK(watch.advance(8 * second).lost.empty());
  CHECK(watch.advance(9 * second).lost == names{"b"});
}

TEST_CASE("a process that was stopped itself does not take its peers for lost") {
  monitor watch(every_second);
  watch.add("a", 0);
  watch.advance(0);
  watch.advance(second);

  CHECK(watch.advance(100 * second).lost.empty()); // woke after 99 s
  CHECK(watch.advance(101 * second).lost.empty());
  CHECK(watch.advance(102 * second).lost.empty());
  CHECK(watch.advance(103 * second).lost == names{"a"});
}

} // TEST_SUITE("actors/heartbeat/heartbeat_monitor")
