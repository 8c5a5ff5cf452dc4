#include "libactors/transport/outbox.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace headrace;
using namespace headrace::actors;

namespace {

outbox::item item_of(const std::string& name, std::size_t body_bytes = 0) {
  outbox::item out;
  out.header = name;
  auto held = std::make_shared<byte_string>(body_bytes, 'x');
  out.body = {.view = *held, .owner = held};
  return out;
}

std::string leave(outbox& from) {
  std::string out;
  while (const auto* next = from.next()) {
    out += next->header + std::to_string(next->sequence) + ' ';
  }
  return out;
}

} // namespace

TEST_SUITE("actors/transport/outbox") {

TEST_CASE("small messages overtake large ones that wait; numbers are given when they leave") {
  outbox out;
  CHECK(out.offer(lane::bulk, item_of("B")));
  CHECK(out.offer(lane::control, item_of("a")));
  CHECK(out.offer(lane::bulk, item_of("C")));
  CHECK(out.offer(lane::control, item_of("b")));

  CHECK(leave(out) == "a1 b2 B3 C4 ");
  CHECK(out.unacknowledged() == 4);
}

TEST_CASE("a small message overtakes no large one of its own flow") {
  outbox out;
  const auto offer = [&](lane where, const std::string& name, std::uint64_t flow) {
    auto made = item_of(name);
    made.flow = flow;
    CHECK(out.offer(where, std::move(made)));
  };
  offer(lane::bulk, "B", 7);
  offer(lane::control, "b", 7);
  offer(lane::control, "a", 8);
  offer(lane::control, "c", 7);
  CHECK(leave(out) == "a1 B2 b3 c4 ");

  offer(lane::bulk, "D", 8);
  offer(lane::control, "d", 7); // what went before has left

  CHECK(leave(out) == "d5 D6 ");
}

TEST_CASE("after a reset all that the peer has not received leaves again, in order, and first") {
  outbox out;
  for (const auto* name : {"a", "b", "c", "d"}) {
    CHECK(out.offer(lane::control, item_of(name)));
  }
  CHECK(leave(out) == "a1 b2 c3 d4 ");
  CHECK(out.acknowledge(1));
  CHECK(out.offer(lane::control, item_of("e")));

  CHECK(out.rewind(2));

  CHECK(leave(out) == "c3 d4 e5 ");
  CHECK(out.rewind(2)); // and once more, before anything was acknowledged
  CHECK(leave(out) == "c3 d4 e5 ");
  CHECK(out.acknowledge(5));
  CHECK(out.unacknowledged() == 0);
  CHECK(out.bytes() == 0);
}

TEST_CASE("an acknowledgement that comes while messages leave again skips them") {
  outbox out;
  for (const auto* name : {"a", "b", "c"}) {
    CHECK(out.offer(lane::control, item_of(name)));
  }
  leave(out);
  CHECK(out.rewind(0));
  CHECK(out.next()->header == "a");

  CHECK(out.acknowledge(2));

  CHECK(leave(out) == "c3 ");
}

TEST_CASE("numbers that were never given, or are long forgotten, are refused") {
  outbox out;
  CHECK(out.offer(lane::control, item_of("a")));
  CHECK(out.offer(lane::control, item_of("b")));
  leave(out);

  CHECK(!out.acknowledge(3));
  CHECK(!out.rewind(3));
  CHECK(out.acknowledge(1));
  CHECK(!out.rewind(0)); // the first is gone
  CHECK(out.rewind(1));
}

TEST_CASE("bounds by number and by bytes; one message always may wait") {
  outbox out({.messages_max = 2, .bytes_max = 1'000, .unacknowledged_bytes_max = 10'000});
  CHECK(out.offer(lane::bulk, item_of("large", 5'000)));
  CHECK(!out.offer(lane::control, item_of("a")));
  leave(out);
  CHECK(!out.offer(lane::control, item_of("a"))); // it is still held
  CHECK(out.acknowledge(1));
  CHECK(out.offer(lane::control, item_of("a")));
  CHECK(out.offer(lane::control, item_of("b")));
  CHECK(!out.offer(lane::control, item_of("c")));
}

TEST_CASE("when much is not acknowledged, the next one waits") {
  outbox out({.messages_max = 100, .bytes_max = 100'000, .unacknowledged_bytes_max = 1'000});
  for (int i = 0; i < 4; ++i) {
    CHECK(out.offer(lane::control, item_of("m", 400)));
  }

  CHECK(leave(out) == "m1 m2 m3 ");
  CHECK(!out.has_next());
  CHECK(out.acknowledge(2));
  CHECK(leave(out) == "m4 ");
}

TEST_CASE("what has arrived is taken once, and a gap is seen") {
  inbox in;
  CHECK(in.take(1, 10) == inbox::verdict::fresh);
  CHECK(in.take(1, 10) == inbox::verdict::repeated);
  CHECK(in.take(3, 10) == inbox::verdict::gap);
  CHECK(in.take(2, 10) == inbox::verdict::fresh);
  CHECK(in.received() == 2);
  CHECK(in.has_news());
  CHECK(!in.owes_acknowledgement());
  CHECK(in.take(3, 2U << 20U) == inbox::verdict::fresh);
  CHECK(in.owes_acknowledgement());
  in.on_told();
  CHECK(!in.has_news());
  CHECK(!in.owes_acknowledgement());
}

} // TEST_SUITE("actors/transport/outbox")
