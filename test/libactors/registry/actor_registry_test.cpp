#include "libactors/registry/actor_registry.hpp"

#include "test/libactors/rpc/testing_endpoint.hpp"
#include "libactors/registry/actor_codec.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::actors;
using std::chrono::milliseconds;

namespace {

actor_snapshot fixed(std::uint64_t id, std::string name) {
  actor_snapshot out;
  out.id = id;
  out.name = std::move(name);
  out.kind = "testing";
  return out;
}

} // namespace

TEST_SUITE("actors/registry/actor_registry") {

TEST_CASE("a record counts what is enqueued and taken, and the time of turns") {
  actor_registry registry;
  const auto record = registry.add(fixed(1, "a"));
  record->on_enqueued();
  record->on_enqueued();
  record->on_taken();
  record->on_message(99);
  record->on_mail(3);
  record->on_mail(1'000'000); // beyond the table
  record->begin_turn(10);

  auto seen = registry.find(1, 25);
  REQUIRE(seen);
  CHECK(seen->queue_depth == 1);
  CHECK(seen->in_turn_us == 15);
  CHECK(seen->messages == std::vector<message_count>{{3, true, 1},
                                                     {actor_record::mail_kinds_max - 1, true, 1},
                                                     {99, false, 1}});

  record->end_turn(10, 40);
  seen = registry.find(1, 50);
  CHECK(seen->busy_us == 30);
  CHECK(seen->in_turn_us == 0);
}

TEST_CASE("live actors are listed by name, failed ones are remembered up to a bound") {
  actor_registry registry;
  const auto b = registry.add(fixed(1, "b"));
  registry.add(fixed(2, "a"));
  registry.remove(b, 0);
  CHECK(registry.failed().empty()); // it ended in order

  for (std::uint64_t i = 0; i < actor_registry::failed_max + 5; ++i) {
    const auto failing = registry.add(fixed(10 + i, "f" + std::to_string(i)));
    failing->set_last_error({errc::internal, "broken"});
    registry.remove(failing, 0);
  }

  REQUIRE(registry.snapshot(0).size() == 1);
  CHECK(registry.snapshot(0)[0].name == "a");
  CHECK(registry.failed().size() == actor_registry::failed_max);
  CHECK(registry.failed()[0].name == "f5");
  CHECK(registry.failed()[0].state == actor_state::ended);
}

TEST_CASE("a snapshot survives its message") {
  auto seen = fixed(7, "dispatcher/job");
  seen.parent = "dispatcher";
  seen.node = "n";
  seen.instance = 3;
  seen.state = actor_state::stopping;
  seen.is_detached = true;
  seen.enqueued = 10;
  seen.taken = 8;
  seen.queue_depth = 2;
  seen.busy_us = 5;
  seen.in_turn_us = 6;
  seen.refused = 1;
  seen.messages = {{1, true, 4}, {2, false, 4}};
  seen.last_error = {errc::job_failed, "failed", {errc::storage_full, "full"}};

  message_builder<schema::ActorSnapshot> made;
  write(*made, seen);
  const auto sent = made.finish();
  const auto read = read_actor(*sent.view());

  CHECK(read.name == seen.name);
  CHECK(read.parent == seen.parent);
  CHECK(read.instance == 3);
  CHECK(read.state == actor_state::stopping);
  CHECK(read.is_detached);
  CHECK(read.queue_depth == 2);
  CHECK(read.refused == 1);
  CHECK(read.messages == seen.messages);
  CHECK(read.last_error == seen.last_error);
}

TEST_CASE("the root of a node lists its actors") {
  auto node = make_deterministic_node(1, {});
  headrace::testing::start(*node, "one", [](auto&) {});
  const auto answer = node->ask_and_wait<schema::ActorList>(
      {.node = node->environment().node, .endpoint = "root", .instance = 0},
      message_builder<schema::ListActors>().finish(), milliseconds(100));

  REQUIRE(answer);
  const auto view = answer->view();
  std::vector<std::string> names;
  for (const auto each : view->getActors()) {
    names.emplace_back(each.getName().cStr());
  }
  CHECK(std::find(names.begin(), names.end(), "one") != names.end());
  CHECK(std::find(names.begin(), names.end(), "root") != names.end());
}

} // TEST_SUITE("actors/registry/actor_registry")
