#include "apps/cluster/memory_settings.hpp"

#include <doctest/doctest.h>

namespace headrace::cluster {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30U;

TEST_SUITE_BEGIN("apps/cluster/memory_settings");

TEST_CASE("unset, all task managers together have 40 % of the machine's memory") {
  CHECK(*managed_memory_bytes({}, 1000 * gib, 1) == 400 * gib);
  CHECK(*managed_memory_bytes({}, 1000 * gib, 4) == 100 * gib);
  CHECK(machine_memory_bytes() > (std::uint64_t{64} << 20U));
}

TEST_CASE("what is set is taken, unless the machine has less") {
  configuration settings;
  REQUIRE(settings.set("taskmanager.memory.managed.size", "2 g"));

  CHECK(*managed_memory_bytes(settings, 8 * gib, 4) == 2 * gib);
  const auto refused = managed_memory_bytes(settings, 8 * gib - 1, 4);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::bad_option_value);
  CHECK(refused.error().message.find("taskmanager.memory.managed.size") != std::string::npos);
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::cluster
