#include "libscheduler/source/enumerator_state.hpp"

#include <doctest/doctest.h>

#include <string>

namespace headrace::scheduler {

namespace {

graph::connector_spec named(const std::string& name) {
  graph::connector_spec out;
  out.name = name;
  return out;
}

graph::connector_spec of_code() {
  graph::connector_spec out;
  out.provider.index = 3;
  return out;
}

} // namespace

TEST_SUITE("scheduler/source/enumerator_state") {

TEST_CASE("state comes back to the connector that it is of") {
  for (const auto& connector : {named("file"), named(""), of_code()})
    for (const std::string state : {"", "\x01splits", "\xfeHRE"}) {
      const auto back =
          unmark_enumerator_state(connector, "s", mark_enumerator_state(connector, state));
      REQUIRE(back);
      CHECK(*back == state);
    }
}

TEST_CASE("state of another connector is refused, by both names") {
  const auto stored = mark_enumerator_state(named("file"), "\x01splits");
  for (const auto& other : {named("datagen"), of_code()}) {
    const auto refused = unmark_enumerator_state(other, "orders", stored);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == errc::incompatible_state);
    CHECK(refused.error().message.find("`file`") != std::string::npos);
    CHECK(refused.error().message.find("orders") != std::string::npos);
  }
}

TEST_CASE("state without a mark is taken as it is, and a cut mark is corrupt") {
  CHECK(*unmark_enumerator_state(named("file"), "s", "\x01splits") == "\x01splits");
  CHECK(unmark_enumerator_state(named("file"), "s", "")->empty());
  const auto stored = mark_enumerator_state(named("file"), "");
  for (std::size_t size = 4; size < stored.size(); ++size)
    CHECK(unmark_enumerator_state(named("file"), "s", stored.substr(0, size)).error().code ==
          errc::corrupt_snapshot);
}

} // TEST_SUITE("scheduler/source/enumerator_state")

} // namespace headrace::scheduler
