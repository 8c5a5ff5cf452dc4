#include "libactors/transport/peer_link.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::actors;
using std::chrono::milliseconds;

namespace {

constexpr std::int64_t ms = 1'000;
const error broke{errc::connection_failed, "connection broke"};

peer_link make() { return {link_times::from(milliseconds(1'000), milliseconds(10'000)), "peer"}; }

peer_link connected() {
  auto out = make();
  out.on_wanted(0);
  out.on_connected(0);
  return out;
}

} // namespace

TEST_SUITE("actors/transport/peer_link") {

TEST_CASE("all times follow from those of the heartbeat") {
  const auto usual = link_times::from(milliseconds(1'000), milliseconds(10'000));
  CHECK(usual.heartbeat == milliseconds(1'000));
  CHECK(usual.timeout == milliseconds(10'000));
  CHECK(usual.handshake == milliseconds(5'000));
  const auto short_ones = link_times::from(milliseconds(100), milliseconds(200));
  CHECK(short_ones.heartbeat == milliseconds(50)); // several fit into the time-out
  CHECK(short_ones.backoff_max == milliseconds(50));
}

TEST_CASE("it dials once when something is to be sent") {
  auto link = make();
  CHECK(link.on_wanted(0).dial);
  CHECK(!link.on_wanted(1).dial);
  link.on_connected(2);
  CHECK(!link.on_wanted(3).dial);
}

TEST_CASE("what a failed attempt means") {
  struct row {
    dial_failure why;
    bool is_dead;
  };
  for (const auto& [why, is_dead] : {
           row{dial_failure::refused, true},
           row{dial_failure::new_instance, true},
           row{dial_failure::stale, true},
           row{dial_failure::not_let_in, true},
           row{dial_failure::unreachable, false},
           row{dial_failure::duplicate, false},
       }) {
    CAPTURE(static_cast<int>(why));
    auto link = make();
    link.on_wanted(0);
    const auto orders = link.on_dial_failed(why, broke, ms);
    CHECK(orders.lost.has_value() == is_dead);
    CHECK(link.now() == (is_dead ? peer_link::phase::idle : peer_link::phase::waiting));
    if (is_dead) {
      CHECK(orders.lost->code == errc::peer_lost);
      CHECK(orders.lost->has(errc::connection_failed));
    }
  }
}

TEST_CASE("attempts come at growing distances, until the peer has been silent for too long") {
  auto link = connected();
  CHECK(link.on_disconnected(broke, true, 100 * ms).dial); // the first at once
  std::vector<std::int64_t> tries;
  std::int64_t now = 100 * ms;
  std::optional<error> lost;
  link.on_dial_failed(dial_failure::unreachable, broke, now);
  while (!lost && now < 20'000 * ms) {
    now += ms;
    const auto orders = link.on_tick(now, 0);
    lost = orders.lost;
    if (orders.dial) {
      tries.push_back(now / ms - 100);
      link.on_dial_failed(dial_failure::unreachable, broke, now);
    }
  }
  REQUIRE(tries.size() > 8);
  CHECK(std::vector<std::int64_t>(tries.begin(), tries.begin() + 5) ==
        std::vector<std::int64_t>{10, 30, 70, 150, 310});
  CHECK(tries[8] - tries[7] == 1'000); // the most
  REQUIRE(lost);
  CHECK(now == 10'000 * ms);
  CHECK(lost->message.find("nothing heard for 10000 ms") != std::string::npos);
  CHECK(lost->has(errc::connection_failed));
}

TEST_CASE("a peer without an address is waited for") {
  auto link = connected();
  const auto orders = link.on_disconnected(broke, false, ms);
  CHECK(!orders.dial);
  CHECK(!orders.lost);
  link.on_connected(2 * ms); // it came
  CHECK(link.now() == peer_link::phase::connected);
}

TEST_CASE("a connection that breaks again and again is not made again without a pause") {
  auto link = connected();
  CHECK(link.on_disconnected(broke, true, ms).dial);
  link.on_connected(2 * ms);
  CHECK(!link.on_disconnected(broke, true, 3 * ms).dial);
  CHECK(link.on_tick(13 * ms, 0).dial);
  link.on_connected(14 * ms);
  CHECK(link.on_disconnected(broke, true, 2'000 * ms).dial); // this one held
}

TEST_CASE("heartbeats are sent when nothing else is, and silence is death") {
  auto link = connected();
  CHECK(!link.on_tick(999 * ms, 0).heartbeat);
  CHECK(link.on_tick(1'000 * ms, 0).heartbeat);
  CHECK(!link.on_tick(1'001 * ms, 0).heartbeat);
  link.on_sent(1'900 * ms);
  CHECK(!link.on_tick(2'100 * ms, 0).heartbeat);
  CHECK(link.on_tick(2'900 * ms, 0).heartbeat);
  link.on_heard(3'000 * ms);
  CHECK(!link.on_tick(12'999 * ms, 0).lost);
  const auto orders = link.on_tick(13'000 * ms, 0);
  REQUIRE(orders.lost);
  CHECK(orders.disconnect);
  CHECK(link.now() == peer_link::phase::idle);
  CHECK(!link.on_tick(14'000 * ms, 0).lost); // once
}

TEST_CASE("the time that this process stood still is given to the peer") {
  auto link = connected();
  CHECK(!link.on_tick(60'000 * ms, 59'950 * ms).lost);
  CHECK(!link.on_tick(69'000 * ms, 0).lost);
  CHECK(link.on_tick(70'000 * ms, 0).lost);
}

} // TEST_SUITE("actors/transport/peer_link")
