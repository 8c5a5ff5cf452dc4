#include "libscheduler/source/reader_outbox.hpp"

#include <doctest/doctest.h>

#include <string>

namespace headrace::scheduler {

namespace {

reader_outbox::event splits(const std::string& id) {
  message_builder<schema::SourceEvent> out;
  out->initAddSplits().initSplits(1)[0].setId(id);
  return out.finish();
}

std::string id_of(const reader_outbox::event& what) {
  return what.view()->getAddSplits().getSplits()[0].getId().cStr();
}
template <class Events>
std::string ids_of(const Events& events) {
  std::string out;
  for (const auto& each : events) {
    if constexpr (std::is_same_v<Events, std::vector<reader_outbox::addressed>>)
      out += std::to_string(each.first) + id_of(each.second) + ' ';
    else
      out += id_of(each) + ' ';
  }
  return out;
}

} // namespace

TEST_SUITE("scheduler/source/reader_outbox") {

TEST_CASE("what is for a registered reader leaves at once") {
  reader_outbox box;
  CHECK(box.on_registered(0).empty());
  const auto now = box.send(0, splits("a"));
  REQUIRE(now);
  CHECK(id_of(*now) == "a");
  CHECK_FALSE(box.awaits_registration());
}

TEST_CASE("what is for a reader that is not there waits until it registers") {
  reader_outbox box;
  box.on_registered(1);
  CHECK_FALSE(box.send(0, splits("a")));
  CHECK(box.send(1, splits("b")));
  CHECK_FALSE(box.send(0, splits("c")));
  CHECK(box.awaits_registration());
  CHECK(ids_of(box.on_registered(0)) == "a c ");
  CHECK_FALSE(box.awaits_registration());
}

TEST_CASE("a reader that failed gets nothing of what waited, and what is sent then waits for the "
          "next attempt") {
  reader_outbox box;
  box.on_registered(0);
  box.close(7);
  CHECK_FALSE(box.send(0, splits("a"))); // comes back to the enumerator
  box.on_reset(0);
  CHECK(box.open(7).empty());
  CHECK_FALSE(box.send(0, splits("b")));
  CHECK(box.awaits_registration());
  box.on_reset(0);
  CHECK_FALSE(box.awaits_registration());
  CHECK_FALSE(box.send(0, splits("c")));
  CHECK(ids_of(box.on_registered(0)) == "c ");
}

TEST_CASE("behind a barrier all wait, in order") {
  reader_outbox box;
  box.on_registered(0);
  box.on_registered(1);
  box.close(3);
  CHECK_FALSE(box.send(1, splits("a")));
  CHECK_FALSE(box.send(0, splits("b")));
  CHECK(box.open(2).empty()); // of a checkpoint before
  CHECK_FALSE(box.send(1, splits("c")));
  CHECK(ids_of(box.open(3)) == "1a 0b 1c ");
  CHECK(box.send(1, splits("d")));
}

TEST_CASE("who registers while the way is closed gets it behind the barrier") {
  reader_outbox box;
  CHECK_FALSE(box.send(0, splits("a")));
  box.close(3);
  CHECK_FALSE(box.send(0, splits("b")));
  CHECK_FALSE(box.send(2, splits("x")));
  CHECK(box.on_registered(0).empty());
  CHECK(ids_of(box.open(3)) == "0a 0b ");
  CHECK(ids_of(box.on_registered(2)) == "x ");
}

} // TEST_SUITE("scheduler/source/reader_outbox")

} // namespace headrace::scheduler
