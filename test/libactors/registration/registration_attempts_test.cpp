#include "libactors/registration/registration_attempts.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace headrace;
using namespace headrace::actors;
using std::chrono::milliseconds;

TEST_SUITE("actors/registration/registration_attempts") {

TEST_CASE("an accepted registration is over") {
  registration_attempts attempts({});

  CHECK(attempts.begin(0) == registration_action(ask_leader{1, milliseconds(100)}));
  CHECK(attempts.on_accepted(1) == registration_action(registration_over{}));
  CHECK(attempts.is_registered());
  CHECK(attempts.on_accepted(1) == registration_action());
}

TEST_CASE("time-outs double up to the most, without a pause") {
  registration_attempts attempts({});
  attempts.begin(0);
  std::vector<std::int64_t> timeouts;
  for (std::uint64_t attempt = 1; attempt <= 9; ++attempt) {
    const auto next = attempts.on_failed(attempt, {errc::timed_out, ""}, 0);
    REQUIRE(std::holds_alternative<ask_leader>(next));
    timeouts.push_back(std::get<ask_leader>(next).timeout.count());
  }

  CHECK(timeouts ==
        std::vector<std::int64_t>{200, 400, 800, 1'600, 3'200, 6'400, 10'000, 10'000, 10'000});
}

TEST_CASE("another error makes a pause that doubles") {
  registration_attempts attempts({});
  attempts.begin(0);
  const error lost(errc::peer_lost, "no connection");

  CHECK(attempts.on_failed(1, lost, 0) ==
        registration_action(pause_registration{1, milliseconds(100)}));
  CHECK(attempts.on_pause_over(1, 0) == registration_action(ask_leader{2, milliseconds(100)}));
  CHECK(attempts.on_failed(2, lost, 0) ==
        registration_action(pause_registration{2, milliseconds(200)}));
}

TEST_CASE("a refusal is final") {
  registration_attempts attempts({});
  attempts.begin(0);
  const error refused(errc::registration_refused, "another cluster");

  CHECK(attempts.on_failed(1, refused, 0) == registration_action(registration_over{refused}));
  CHECK(attempts.on_pause_over(1, 0) == registration_action());
}

TEST_CASE("stale outcomes are ignored, but a late yes counts") {
  registration_attempts attempts({});
  attempts.begin(0);
  attempts.on_failed(1, {errc::timed_out, ""}, 0);

  CHECK(attempts.on_failed(1, {errc::peer_lost, ""}, 0) == registration_action());
  CHECK(attempts.on_accepted(3) == registration_action());
  CHECK(attempts.on_accepted(1) == registration_action(registration_over{}));
}

TEST_CASE("registration fails when its time is over, with the last failure as the cause") {
  registration_options options;
  options.give_up_after = milliseconds(1'000);
  registration_attempts attempts(options);
  attempts.begin(0);
  CHECK(std::holds_alternative<ask_leader>(
      attempts.on_failed(1, {errc::timed_out, "first"}, 999'999)));

  const auto last = attempts.on_failed(2, {errc::timed_out, "second"}, 1'000'000);

  REQUIRE(std::holds_alternative<registration_over>(last));
  const auto failure = std::get<registration_over>(last).failure;
  REQUIRE(failure);
  CHECK(failure->code == errc::timed_out);
  CHECK(failure->causes.at(0).message == "second");
}

} // TEST_SUITE("actors/registration/registration_attempts")
