#include "libtask/network/frame_gatherer.hpp"

#include "test/support/batches.hpp"
#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

#include <map>

namespace headrace::task {

using namespace headrace::testing;

namespace {

wire_element mark(std::int64_t time_ms) { return {graph::watermark{time_ms}, 64}; }

wire_element bytes(std::size_t size) {
  wire_batch batch;
  batch.size_bytes = size;
  return {std::move(batch), size};
}

std::int64_t time_of(const wire_element& element) {
  return std::get<graph::watermark>(element.content).time_ms;
}

} // namespace

TEST_SUITE("task/network/frame_gatherer") {

TEST_CASE("pieces of all routes go in one frame, those of one route together and in order") {
  frame_gatherer gathered;
  gathered.add(route_piece{1, {mark(1)}, false});
  gathered.add(route_piece{2, {mark(2)}, true});
  gathered.add(route_piece{1, {mark(3)}, true});

  const auto frame = gathered.take();

  REQUIRE(frame);
  REQUIRE(frame->pieces.size() == 2);
  CHECK(frame->pieces[0].route == 1);
  REQUIRE(frame->pieces[0].elements.size() == 2);
  CHECK(time_of(frame->pieces[0].elements[0]) == 1);
  CHECK(time_of(frame->pieces[0].elements[1]) == 3);
  CHECK(frame->pieces[0].closes);
  CHECK(frame->pieces[1].closes);
  CHECK(gathered.is_empty());
  CHECK(!gathered.take());
}

TEST_CASE("a frame is bounded in bytes; an element is never split") {
  frame_gatherer gathered({.frame_bytes = 1000, .entries = 100});
  gathered.add(route_piece{1, {bytes(640), bytes(640), bytes(64'000)}, true});
  gathered.add(route_piece{2, {bytes(64)}, false});
  CHECK(gathered.pending_bytes() == 65'344);

  const auto first = gathered.take();
  const auto second = gathered.take();
  const auto third = gathered.take();

  REQUIRE((first && second && third));
  CHECK(first->pieces[0].elements.size() == 2);
  CHECK(!first->pieces[0].closes);
  CHECK(second->pieces[0].elements.size() == 1);
  CHECK(second->pieces[0].closes);
  CHECK(second->pieces.size() == 1);
  CHECK(third->pieces[0].route == 2);
  CHECK(gathered.is_empty());
  CHECK(gathered.pending_bytes() == 0);
}

TEST_CASE("words about channels go before data, and without it when there is no room") {
  frame_gatherer gathered;
  gathered.add(route_piece{1, {bytes(64)}, false});
  gathered.add(route_credit{7, 100});
  gathered.abandon(8);

  const auto words = gathered.take(false);
  const auto nothing = gathered.take(false);
  const auto data = gathered.take();

  REQUIRE(words);
  CHECK(words->pieces.empty());
  CHECK(words->credits.size() == 1);
  CHECK(words->abandoned.size() == 1);
  CHECK(!nothing);
  REQUIRE(data);
  CHECK(data->pieces.size() == 1);
}

TEST_CASE("what waits for a route that is gone is dropped") {
  frame_gatherer gathered;
  gathered.add(route_piece{1, {bytes(64)}, false});
  gathered.add(route_piece{2, {bytes(128)}, false});

  gathered.drop(1);

  CHECK(gathered.pending_bytes() == 128);
  CHECK(gathered.take()->pieces[0].route == 2);
}

TEST_CASE("whatever is gathered, each route gets all of it, in order") {
  dice random(seed() + 73);
  for (int round = 0; round < 50; ++round) {
    frame_gatherer gathered(
        {.frame_bytes = 64 + random.below(2000), .entries = 1 + random.below(9)});
    std::map<route_id, std::int64_t> sent;
    std::map<route_id, std::int64_t> got;
    std::map<route_id, int> closed;
    const auto receive = [&](const data_frame& frame) {
      for (const auto& piece : frame.pieces) {
        CHECK(closed[piece.route] == 0);
        for (const auto& element : piece.elements)
          if (std::holds_alternative<graph::watermark>(element.content))
            CHECK(time_of(element) == got[piece.route]++);
        closed[piece.route] += piece.closes ? 1 : 0;
      }
    };
    for (int step = 0; step < 200; ++step) {
      const auto route = static_cast<route_id>(random.below(5));
      route_piece piece{route, {}, false};
      for (auto count = random.below(4); count > 0; --count) {
        piece.elements.push_back(mark(sent[route]++));
        if (random.one_in(2))
          piece.elements.push_back(bytes(random.below(1000)));
      }
      gathered.add(std::move(piece));
      if (random.one_in(3))
        if (const auto frame = gathered.take())
          receive(*frame);
    }
    for (route_id route = 0; route < 5; ++route)
      gathered.add(route_piece{route, {}, true});
    while (const auto frame = gathered.take())
      receive(*frame);
    for (route_id route = 0; route < 5; ++route) {
      CHECK(got[route] == sent[route]);
      CHECK(closed[route] == 1);
    }
    CHECK(gathered.pending_bytes() == 0);
  }
}

} // TEST_SUITE("task/network/frame_gatherer")

} // namespace headrace::task
