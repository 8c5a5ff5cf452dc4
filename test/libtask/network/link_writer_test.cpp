#include "libtask/network/link_writer.hpp"

#include "test/support/seed.hpp"
#include "libtask/network/exchange_directory.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace headrace::task {

namespace {

const execution_attempt_id producer_attempt{{1, 1}, 0, 0};
const execution_attempt_id consumer_attempt{{1, 2}, 0, 0};
const partition_id the_partition{{2, 2}, producer_attempt};

/// Keeps the frames that it is sent; what waits in it is set by the test.
class testing_link final : public actors::frame_connection {
public:
  status send(actors::outgoing_frame frame) override {
    const std::lock_guard lock(guard_);
    if (failure.code != errc::none)
      return failure;
    byte_string body;
    for (const auto& part : frame.body)
      body.append(part.view);
    auto decoded = decode_frame(frame.header, body, nullptr);
    REQUIRE(decoded);
    frames.push_back(*std::move(decoded));
    return {};
  }
  std::size_t queued_bytes() const override { return waiting; }
  void close(error cause) override { closed = std::move(cause); }
  void abort(error) override { FAIL("aborted"); }

  std::vector<data_frame> frames;
  std::size_t waiting = 0;
  error failure;
  std::optional<error> closed;

private:
  std::mutex guard_;
};

wire_element mark(std::int64_t time_ms) { return {graph::watermark{time_ms}, 64}; }

wire_element batch_of(std::size_t size) {
  const auto bytes = graph::buffer::allocate(size);
  wire_batch batch;
  batch.pieces.push_back({{bytes->as<char>(), bytes->size_bytes()}, bytes});
  batch.size_bytes = size;
  return {std::move(batch), size};
}

struct one_link {
  explicit one_link(route_id produced = 3, link_writer_settings settings = {})
      : writer(link, routes, metrics, settings,
               [this](error cause) { lost.push_back(std::move(cause)); }) {
    for (route_id route = 1; route <= produced; ++route)
      REQUIRE(routes->locked()->serve(route, {the_partition, route}));
  }

  exchange_directory directory;
  std::shared_ptr<data_connection_metrics> metrics = std::make_shared<data_connection_metrics>();
  std::shared_ptr<link_routes> routes = std::make_shared<link_routes>(directory, metrics);
  std::shared_ptr<testing_link> link = std::make_shared<testing_link>();
  std::vector<error> lost;
  link_writer writer;
};

} // namespace

TEST_SUITE("task/network/link_writer") {

TEST_CASE("what a turn adds goes in one frame, at its end") {
  one_link one;
  const auto consumed = one.routes->locked()->open({consumer_attempt, 0, the_partition, 0, 100, 0});
  one.writer.add(route_piece{1, {mark(1)}, false});
  one.writer.add(route_piece{2, {mark(2)}, true});
  one.writer.add(route_credit{consumed, 50});
  CHECK(one.link->frames.empty());
  CHECK_FALSE(one.writer.is_empty());

  one.writer.send();
  REQUIRE(one.link->frames.size() == 1);
  CHECK(one.link->frames[0].pieces.size() == 2);
  CHECK(one.link->frames[0].credits.size() == 1);
  CHECK(one.writer.is_empty());
  CHECK(one.writer.frames() == 1);
  CHECK(one.metrics->frames_out.value() == 1);
  // What comes for the credit is taken, and no more of it.
  CHECK(one.routes->locked()->take_credit(consumed, 149));
  one.writer.send();
  CHECK(one.link->frames.size() == 1);
}

TEST_CASE("a full frame goes at once") {
  one_link one;
  one.writer.add(route_piece{1, {batch_of(300 << 10)}, false});
  CHECK(one.link->frames.empty());
  one.writer.add(route_piece{1, {batch_of(300 << 10)}, false});
  REQUIRE(one.link->frames.size() == 1);
  CHECK(one.link->frames[0].pieces[0].elements.size() == 2);
}

TEST_CASE("data waits for room in the link, words about channels do not") {
  one_link one;
  one.link->waiting = std::size_t{2} << 20U;
  one.writer.add(route_piece{1, {mark(1)}, false});
  one.writer.add(route_credit{5, 10});
  one.writer.add(route_request{6, the_partition, 0, 10});
  one.writer.abandon(7);
  one.writer.send();
  REQUIRE(one.link->frames.size() == 1);
  CHECK(one.link->frames[0].pieces.empty());
  CHECK(one.link->frames[0].credits.size() == 1);
  CHECK(one.link->frames[0].requests.size() == 1);
  CHECK(one.link->frames[0].abandoned.size() == 1);

  one.link->waiting = 0;
  one.writer.send();
  REQUIRE(one.link->frames.size() == 2);
  CHECK(one.link->frames[1].pieces.size() == 1);
}

TEST_CASE("nothing is sent to a consumer that has ended, or behind the end of its producer") {
  one_link one;
  one.routes->locked()->close_producer(1);
  one.writer.add(route_piece{1, {mark(1)}, false});
  one.writer.add(route_piece{2, {mark(2)}, false});
  one.writer.drop(2);
  one.writer.add(route_piece{3, {mark(3)}, true});
  one.writer.add(route_piece{3, {mark(4)}, false});
  one.writer.send();
  REQUIRE(one.link->frames.size() == 1);
  REQUIRE(one.link->frames[0].pieces.size() == 1);
  CHECK(one.link->frames[0].pieces[0].route == 3);
  CHECK(one.link->frames[0].pieces[0].elements.size() == 1);
}

TEST_CASE("a link that takes no more is told of once, and all else is dropped") {
  one_link one;
  one.link->failure = error(errc::peer_lost, "connection is closed");
  for (int i = 0; i < 3; ++i) {
    one.writer.add(route_piece{1, {mark(i)}, false});
    one.writer.send();
  }
  REQUIRE(one.lost.size() == 1);
  CHECK(one.lost[0].code == errc::peer_lost);
  CHECK(one.writer.is_empty());
  one.writer.leave(true, error(errc::shut_down, "over"));
  CHECK_FALSE(one.link->closed);
}

TEST_CASE("a writer that was stopped drops all, and leaves the link alone") {
  one_link one;
  one.writer.add(route_piece{1, {mark(1)}, false});
  one.writer.stop();
  one.writer.add(route_piece{1, {mark(2)}, false});
  one.writer.send();
  CHECK(one.link->frames.empty());
  CHECK(one.lost.empty());
  CHECK_FALSE(one.link->closed);
}

TEST_CASE("who leaves sends what waits, then a farewell, then closes") {
  one_link one;
  one.writer.add(route_credit{5, 10});
  one.writer.leave(true, error(errc::shut_down, "not needed"));
  REQUIRE(one.link->frames.size() == 2);
  CHECK(one.link->frames[0].credits.size() == 1);
  CHECK(one.link->frames[1].leaves);
  REQUIRE(one.link->closed);
  CHECK(one.link->closed->code == errc::shut_down);
}

TEST_CASE("threads that write at once lose nothing, and keep the order of each route") {
  constexpr route_id routes = 4;
  constexpr std::int64_t pieces = 3000;
  one_link one(routes);
  std::vector<std::thread> producers;
  for (route_id route = 1; route <= routes; ++route)
    producers.emplace_back([&one, route] {
      const auto random = make_seeded_random(testing::seed() + route);
      for (std::int64_t i = 0; i < pieces; ++i) {
        one.writer.add(route_piece{route, {mark(i)}, i + 1 == pieces});
        if (random->below(3) == 0 || i + 1 == pieces)
          one.writer.send();
      }
    });
  for (auto& each : producers)
    each.join();

  CHECK(one.writer.is_empty());
  CHECK(one.lost.empty());
  std::map<route_id, std::int64_t> next;
  std::size_t closes = 0;
  for (const auto& frame : one.link->frames)
    for (const auto& piece : frame.pieces) {
      for (const auto& element : piece.elements)
        CHECK(std::get<graph::watermark>(element.content).time_ms == next[piece.route]++);
      closes += piece.closes ? 1 : 0;
    }
  CHECK(closes == routes);
  for (route_id route = 1; route <= routes; ++route)
    CHECK(next[route] == pieces);
}

} // TEST_SUITE("task/network/link_writer")

} // namespace headrace::task
