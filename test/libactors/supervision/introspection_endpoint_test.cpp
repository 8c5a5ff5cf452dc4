#include "libactors/supervision/introspection_endpoint.hpp"

#include "schema/debug.capnp.h"
#include "schema/message_names.hpp"

#include <doctest/doctest.h>

using namespace headrace;

TEST_SUITE("actors/supervision/introspection_endpoint") {
TEST_CASE("a node tells who lives there, under a name that every node has") {
  const auto node = actors::make_deterministic_node(1, {});
  const auto where = actors::spawn_introspection(*node);

  const auto answer = node->ask_and_wait<schema::ActorList>(
      {where.node, std::string(actors::introspection_name), 0},
      message_builder<schema::ListActors>().finish(), std::chrono::milliseconds(1000));

  REQUIRE(answer.has_value());
  std::set<std::string> names;
  for (const auto actor : answer->view()->getActors())
    names.insert(actor.getName().cStr());
  CHECK(names.contains("root"));
  CHECK(names.contains("introspection"));
  node->shut_down();
}

TEST_CASE("messages have names") {
  CHECK(schema::message_name(type_id_of<schema::ListActors>()) == "ListActors");
  CHECK(schema::message_name(type_id_of<schema::ActorList>()) == "ActorList");
  CHECK(schema::message_name(1).empty());
}
} // TEST_SUITE("actors/supervision/introspection_endpoint")
