#include "libtask/input/watermark_valve.hpp"

#include "test/support/seed.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using headrace::graph::watermark;
using headrace::graph::watermark_status;
using headrace::task::watermark_valve;

TEST_SUITE("task/input/watermark_valve") {
TEST_CASE("the smallest channel decides") {
  watermark_valve valve(2);

  CHECK_FALSE(valve.on_watermark(0, {10}).advanced);
  CHECK(valve.on_watermark(1, {5}).advanced == watermark{5});
  CHECK(valve.on_watermark(1, {20}).advanced == watermark{10});
}

TEST_CASE("a watermark that does not rise changes nothing") {
  watermark_valve valve(1);
  CHECK(valve.on_watermark(0, {10}).advanced == watermark{10});

  CHECK_FALSE(valve.on_watermark(0, {10}).advanced);
  CHECK_FALSE(valve.on_watermark(0, {9}).advanced);
  CHECK(valve.current_ms() == 10);
}

TEST_CASE("an idle channel does not hold the watermark back") {
  watermark_valve valve(2);
  CHECK_FALSE(valve.on_watermark(0, {10}).advanced);

  const auto change = valve.on_status(1, {true});

  CHECK(change.advanced == watermark{10});
  CHECK_FALSE(change.status);
}

TEST_CASE("a channel back from idleness counts once it has caught up") {
  watermark_valve valve(2);
  CHECK_FALSE(valve.on_status(1, {true}).status);
  CHECK(valve.on_watermark(0, {10}).advanced == watermark{10});

  CHECK_FALSE(valve.on_status(1, {false}).advanced);
  CHECK_FALSE(valve.on_watermark(1, {5}).advanced);
  CHECK(valve.on_watermark(0, {20}).advanced == watermark{20});
  CHECK_FALSE(valve.on_watermark(1, {20}).advanced);
  CHECK_FALSE(valve.on_watermark(0, {30}).advanced);
  CHECK(valve.on_watermark(1, {25}).advanced == watermark{25});
}

TEST_CASE("all channels idle makes the subtask idle at the furthest watermark") {
  watermark_valve valve(2);
  CHECK_FALSE(valve.on_watermark(0, {10}).advanced);
  CHECK(valve.on_watermark(1, {4}).advanced == watermark{4});

  CHECK_FALSE(valve.on_status(1, {true}).status);
  const auto change = valve.on_status(0, {true});

  CHECK(valve.current_ms() == 10);
  CHECK(change.status == watermark_status{true});
  CHECK(valve.on_status(1, {false}).status == watermark_status{false});
}

TEST_CASE("an ended channel does not speak for idle ones") {
  watermark_valve valve(2);
  CHECK_FALSE(valve.on_status(1, {true}).status);

  const auto change = valve.on_watermark(0, {watermark::end});

  CHECK_FALSE(change.advanced);
  CHECK(change.status == watermark_status{true});
  CHECK(valve.on_ended(1).advanced == watermark{watermark::end});
}

TEST_CASE("the end of all channels is the end") {
  watermark_valve valve(3);
  CHECK_FALSE(valve.on_ended(0).advanced);
  CHECK_FALSE(valve.on_ended(1).advanced);
  CHECK(valve.on_ended(2).advanced == watermark{watermark::end});
}

TEST_CASE("the combined watermark never goes back, whatever comes") {
  auto random = make_seeded_random(testing::seed());
  for (int round = 0; round < 200; ++round) {
    const auto channels = 1 + random->below(7);
    watermark_valve valve(channels);
    std::int64_t last = watermark::none;
    for (int step = 0; step < 200; ++step) {
      const auto channel = random->below(channels);
      watermark_valve::update change;
      switch (random->below(8)) {
      case 0:
        change = valve.on_status(channel, {random->below(2) == 0});
        break;
      case 1:
        if (random->below(30) == 0)
          change = valve.on_ended(channel);
        break;
      default:
        change = valve.on_watermark(channel, {static_cast<std::int64_t>(random->below(1000))});
      }
      if (change.advanced) {
        REQUIRE(change.advanced->time_ms > last);
        last = change.advanced->time_ms;
      }
    }
  }
}
} // TEST_SUITE("task/input/watermark_valve")
