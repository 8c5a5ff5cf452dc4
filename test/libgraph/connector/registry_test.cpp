#include "libgraph/connector/registry.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::graph;

TEST_SUITE_BEGIN("graph/connector/registry");

namespace {

connector_registry registry_with_file() {
  connector_registry registry;
  registry.add_source("file",
                      [](const auto&, const auto&, auto) -> result<std::unique_ptr<source>> {
                        return std::unique_ptr<source>();
                      });
  registry.add_source("datagen",
                      [](const auto&, const auto&, auto) -> result<std::unique_ptr<source>> {
                        return error(errc::unknown_option, "no");
                      });
  return registry;
}

} // namespace

TEST_CASE("a connector is found by name, and its failure is passed on") {
  const auto registry = registry_with_file();

  CHECK(registry.create_source("file", {}, nullptr));
  CHECK(registry.create_source("datagen", {}, nullptr).error().code == errc::unknown_option);
}

TEST_CASE("an unknown connector names the nearest and lists those that exist") {
  const auto registry = registry_with_file();

  const auto created = registry.create_source("flie", {}, nullptr);

  REQUIRE_FALSE(created);
  CHECK(created.error() == error(errc::unknown_connector,
                                 "unknown source connector: \"flie\", did you mean \"file\", "
                                 "known: datagen, file"));
  CHECK(registry.create_sink("file", {}, nullptr).error().message ==
        "unknown sink connector: \"file\", none is known");
  CHECK(registry.create_format("csv", {}).error().code == errc::unknown_connector);
}

TEST_SUITE_END();
