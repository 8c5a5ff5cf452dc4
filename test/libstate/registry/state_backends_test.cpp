#include "libstate/registry/state_backends.hpp"

#include <doctest/doctest.h>

namespace headrace::state {

TEST_SUITE("state/registry/state_backends") {
TEST_CASE("an unknown backend is refused with the nearest known one") {
  const auto made = make_state_backend("hashmp");
  REQUIRE(!made.has_value());
  CHECK(made.error().code == errc::bad_option_value);
  CHECK(made.error().message == "unknown state backend: `hashmp`, did you mean `hashmap`");
}

TEST_CASE("each known backend is made under its name") {
  for (const auto* name : {"hashmap", "rocksdb"}) {
    const auto made = make_state_backend(name);
    REQUIRE(made.has_value());
    CHECK((*made)->name() == name);
  }
}
} // TEST_SUITE("state/registry/state_backends")

} // namespace headrace::state
