#include "libtask/network/exchange_routes.hpp"

#include <doctest/doctest.h>

namespace headrace::task {

namespace {

execution_attempt_id attempt(std::int32_t subtask) { return {{1, 2}, subtask, 0}; }

consumer_end consumed(std::int32_t subtask, std::uint32_t channel) {
  return {attempt(subtask), channel, {{3, 4}, attempt(99)}, 5, 1000, 0};
}

} // namespace

TEST_SUITE("task/network/exchange_routes") {

TEST_CASE("a route leads to its consumer until it ends") {
  exchange_routes routes;
  const auto first = routes.open(consumed(0, 0));
  const auto second = routes.open(consumed(0, 1));

  REQUIRE(routes.consumer(second));
  CHECK((*routes.consumer(second))->channel == 1);
  CHECK(routes.close_consumer(second)->channel == 1);
  CHECK(!routes.close_consumer(second));

  CHECK(*routes.consumer(second) == nullptr); // it was: what comes is dropped
  CHECK(routes.consumer(second + 1).error().code == errc::malformed_message);
  CHECK(routes.consumer(0).error().code == errc::malformed_message);
  CHECK(*routes.consumer(first) != nullptr);
  CHECK(!routes.is_empty());
}

TEST_CASE("one element may overdraw a route's credit, what follows is refused") {
  exchange_routes routes;
  const auto route = routes.open(consumed(0, 0)); // 1000 bytes
  const auto other = routes.open(consumed(0, 1));
  CHECK(routes.take_credit(route, 999));
  CHECK(routes.take_credit(route, 5000));
  CHECK(routes.take_credit(other, 64));

  const auto refused = routes.take_credit(route, 64);
  REQUIRE(!refused);
  CHECK(refused.error().code == errc::malformed_message);

  routes.give_credit(route, 4999);
  CHECK(!routes.take_credit(route, 64));
  routes.give_credit(route, 1);
  CHECK(routes.take_credit(route, 64));
  CHECK(!routes.take_credit(route, 64));
}

TEST_CASE("a barrier needs no credit, and takes it") {
  exchange_routes routes;
  const auto route = routes.open(consumed(0, 0)); // 1000 bytes
  CHECK(routes.take_credit(route, 5000));
  CHECK(routes.take_credit(route, 64, true));
  routes.give_credit(route, 4001);
  CHECK(!routes.take_credit(route, 64));
  routes.give_credit(route, 64);
  CHECK(routes.take_credit(route, 64));
}

TEST_CASE("what comes for a route that has ended takes no credit") {
  exchange_routes routes;
  const auto route = routes.open(consumed(0, 0));
  routes.close_consumer(route);
  routes.give_credit(route, 64);
  CHECK(routes.take_credit(route, 5000));
  CHECK(routes.take_credit(route, 5000));
}

TEST_CASE("the routes of a consumer that has ended are abandoned") {
  exchange_routes routes;
  const auto first = routes.open(consumed(0, 0));
  const auto other = routes.open(consumed(1, 0));
  const auto third = routes.open(consumed(0, 1));

  CHECK(routes.end_consumer(attempt(0)) == std::vector<route_id>{first, third});
  CHECK(*routes.consumer(first) == nullptr);
  CHECK(*routes.consumer(other) != nullptr);
}

TEST_CASE("a route that is served lives until it is closed or its producer ends") {
  exchange_routes routes;
  CHECK(routes.serve(7, {{{3, 4}, attempt(0)}, 1}));
  CHECK(routes.serve(8, {{{3, 4}, attempt(0)}, 2}));
  CHECK(routes.serve(9, {{{3, 4}, attempt(1)}, 2}));

  CHECK(routes.serve(7, {}).error().code == errc::malformed_message);
  CHECK(routes.producer(8)->subpartition == 2);
  routes.close_producer(8);
  CHECK(routes.producer(8) == nullptr);
  routes.end_producer(attempt(0));
  CHECK(routes.producer(7) == nullptr);
  CHECK(routes.producer(9) != nullptr);
}

TEST_CASE("with the connection all routes end") {
  exchange_routes routes;
  routes.open(consumed(0, 0));
  routes.open(consumed(0, 1));
  CHECK(routes.serve(1, {{{3, 4}, attempt(0)}, 1}));

  const auto consumers = routes.take_consumed();
  const auto producers = routes.take_produced();

  REQUIRE(consumers.size() == 2);
  CHECK(consumers[1].channel == 1);
  CHECK(producers.size() == 1);
  CHECK(routes.is_empty());
}

} // TEST_SUITE("task/network/exchange_routes")

} // namespace headrace::task
