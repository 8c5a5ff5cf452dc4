#include "test/libactors/rpc/testing_endpoint.hpp"
#include "test/support/seed.hpp"
#include "libactors/registry/actor_registry.hpp"

#include <doctest/doctest.h>
#include <kj/exception.h>

#include <stdexcept>

using namespace headrace;
using namespace headrace::actors;
using headrace::testing::mail_of;
using headrace::testing::number;
using headrace::testing::start;
using headrace::testing::testing_endpoint;
using std::chrono::milliseconds;

namespace {

std::unique_ptr<deterministic_node> make_test_node(node_options options = {}) {
  return make_deterministic_node(headrace::testing::seed(), std::move(options));
}

/// A parent with one child, and what the parent sees of its end.
struct family {
  std::vector<std::pair<std::string, error>> ends;
  std::vector<std::string> stops;
  address parent;
  address child;

  template <class SetUp>
  void start_on(deterministic_node& on, SetUp&& set_up, supervision policy = supervision::notify) {
    parent = start(on, "parent", [&](testing_endpoint& made) {
      made.when_child_ended = [this](auto&, auto& name, auto& cause) {
        ends.emplace_back(name, cause);
      };
      made.when_stopped = [this](auto&, auto&) { stops.emplace_back("parent"); };
      made.when_started = [&, this](testing_endpoint& self) {
        auto inner = std::make_unique<testing_endpoint>();
        inner->when_stopped = [this](auto&, auto&) { stops.emplace_back("child"); };
        set_up(*inner);
        child = self.spawn(std::move(inner), {.name = "child",
                                              .kind = "testing",
                                              .where = placement::control,
                                              .policy = policy,
                                              .addressable = true});
      };
    });
    on.run(1'000);
  }
};

} // namespace

TEST_SUITE("actors/rpc/supervision") {

TEST_CASE("a child is named after its parent") {
  family both;
  auto node = make_test_node();
  both.start_on(*node, [](auto&) {});

  CHECK(both.child.endpoint == "parent/child");
}

TEST_CASE("what a turn throws ends that actor and nothing else") {
  family both;
  auto node = make_test_node();
  both.start_on(*node, [](testing_endpoint& made) {
    made.when_mail = [](auto&, auto kind) {
      if (kind == 1) {
        throw std::runtime_error("bad luck");
      }
      if (kind == 2) {
        KJ_FAIL_REQUIRE("bad words");
      }
      throw 3; // NOLINT: as user code may
    };
  });
  std::uint32_t kind = 0;
  std::string words;
  SUBCASE("a standard exception") {
    kind = 1;
    words = "bad luck";
  }
  SUBCASE("an exception of Cap'n Proto") {
    kind = 2;
    words = "bad words";
  }
  SUBCASE("something else") {
    kind = 3;
    words = "no exception";
  }

  node->find(both.child).send(mail_of(kind));
  node->run(1'000);

  REQUIRE(both.ends.size() == 1);
  CHECK(both.ends[0].first == "child");
  CHECK(both.ends[0].second.code == errc::internal);
  CHECK(both.ends[0].second.message.find(words) != std::string::npos);
  CHECK(both.stops == std::vector<std::string>{"child"});
  CHECK(!node->find(both.parent).is_none());
  REQUIRE(node->actors().failed().size() == 1);
  CHECK(node->actors().failed()[0].name == "parent/child");
}

TEST_CASE("a failing start is told to the parent") {
  family both;
  auto node = make_test_node();
  both.start_on(*node, [](testing_endpoint& made) {
    made.when_started = [](auto&) { throw std::runtime_error("no start"); };
  });

  REQUIRE(both.ends.size() == 1);
  CHECK(both.ends[0].second.message == "no start");
}

TEST_CASE("a child that escalates takes its parent along with the cause") {
  family both;
  auto node = make_test_node();
  both.start_on(
      *node,
      [](testing_endpoint& made) {
        made.when_mail = [](testing_endpoint& self, auto) {
          self.quit({errc::storage_full, "disk is full"});
        };
      },
      supervision::escalate);

  node->find(both.child).send(mail_of(1));
  node->run(1'000);

  CHECK(node->find(both.parent).is_none());
  const auto failed = node->actors().failed();
  REQUIRE(failed.size() == 2);
  CHECK(failed[1].name == "parent");
  CHECK(failed[1].last_error.has(errc::storage_full));
}

TEST_CASE("an orderly end has no cause and does not escalate") {
  family both;
  auto node = make_test_node();
  both.start_on(
      *node,
      [](testing_endpoint& made) {
        made.when_mail = [](testing_endpoint& self, auto) { self.quit(); };
      },
      supervision::escalate);

  node->find(both.child).send(mail_of(1));
  node->run(1'000);

  REQUIRE(both.ends.size() == 1);
  CHECK(both.ends[0].second.code == errc::none);
  CHECK(!node->find(both.parent).is_none());
}

TEST_CASE("children stop before their parent") {
  family both;
  auto node = make_test_node();
  both.start_on(*node, [](auto&) {});

  CHECK(node->shut_down());

  CHECK(both.stops == std::vector<std::string>{"child", "parent"});
}

TEST_CASE("a killed actor says nothing and takes its children along") {
  std::vector<address> lost;
  family both;
  auto node = make_test_node();
  both.start_on(*node, [](auto&) {});
  start(*node, "watcher", [&](testing_endpoint& made) {
    made.when_started = [&](testing_endpoint& self) { self.monitor(both.parent); };
    made.when_peer_ended = [&](auto&, auto& peer, auto& cause) {
      CHECK(cause.code == errc::peer_lost);
      lost.push_back(peer);
    };
  });
  node->run(1'000);

  CHECK(node->kill(both.parent));
  CHECK(node->find(both.parent).is_none());
  node->run(1'000);

  CHECK(both.stops.empty());
  CHECK(node->find(both.child).is_none());
  CHECK(lost == std::vector{both.parent});
}

TEST_CASE("the end of a monitored actor is told, also when it was before") {
  errc told = errc::none;
  auto node = make_test_node();
  const auto gone = start(*node, "gone", [](testing_endpoint& made) {
    made.when_started = [](testing_endpoint& self) { self.quit(); };
  });
  node->run(100);
  start(*node, "watcher", [&](testing_endpoint& made) {
    made.when_started = [&](testing_endpoint& self) { self.monitor(gone); };
    made.when_peer_ended = [&](auto&, auto&, auto& cause) { told = cause.code; };
  });

  node->run(100);

  CHECK(told == errc::peer_lost);
}

TEST_CASE("two live children of one name are refused") {
  auto node = make_test_node();
  const auto first = start(*node, "same", [](auto&) {});
  const auto second = start(*node, "same", [](auto&) {});

  CHECK(!first.is_none());
  CHECK(second.is_none());
}

TEST_CASE("a stopped child frees its name and is told to the parent") {
  std::vector<std::string> seen;
  auto node = make_test_node();
  start(*node, "parent", [&](testing_endpoint& made) {
    made.when_child_ended = [&](testing_endpoint& self, auto& name, auto& cause) {
      seen.push_back(name + ' ' + std::string(name_of(cause.code)));
      if (seen.size() < 3) {
        CHECK(!self.spawn(std::make_unique<testing_endpoint>(), {.name = "child", .kind = ""})
                   .is_none());
        self.stop_child("child");
      }
    };
    made.when_started = [](testing_endpoint& self) {
      self.spawn(std::make_unique<testing_endpoint>(), {.name = "child", .kind = ""});
      self.stop_child("child");
    };
  });

  node->run(1'000);

  CHECK(seen == std::vector<std::string>{"child none", "child none", "child none"});
}

TEST_CASE("a fatal error is told once, with its cause") {
  std::vector<error> fatal;
  node_options options;
  options.on_fatal = [&](const error& cause) { fatal.push_back(cause); };
  auto node = make_test_node(std::move(options));
  start(*node, "one", [](testing_endpoint& made) {
    made.when_started = [](testing_endpoint& self) {
      self.fatal({errc::registration_refused, "no leader wants us"});
      self.fatal({errc::internal, "again"});
    };
  });

  node->run(1'000);

  REQUIRE(fatal.size() == 1);
  CHECK(fatal[0].code == errc::registration_refused);
}

TEST_CASE("a child of the root that escalates is fatal for the node") {
  std::vector<error> fatal;
  node_options options;
  options.on_fatal = [&](const error& cause) { fatal.push_back(cause); };
  auto node = make_test_node(std::move(options));
  start(
      *node, "vital",
      [](testing_endpoint& made) {
        made.when_started = [](testing_endpoint&) { throw std::runtime_error("gone"); };
      },
      placement::control, supervision::escalate);

  node->run(1'000);

  REQUIRE(fatal.size() == 1);
  CHECK(fatal[0].message == "child ended: vital");
  CHECK(fatal[0].causes.at(0).message == "gone");
}

TEST_CASE("an endpoint that awaits its children refuses asks with shut_down") {
  auto node = make_test_node();
  const auto parent = start(*node, "parent", [](testing_endpoint& made) {
    made.when_started = [](testing_endpoint& self) {
      self.spawn(std::make_unique<testing_endpoint>(), {.name = "child", .kind = ""});
    };
    made.when_told = [](testing_endpoint& self, auto, auto&) { self.quit(); };
  });
  node->run(1'000);
  errc answered = errc::none;
  start(*node, "asker", [&](testing_endpoint& made) {
    made.when_started = [&](testing_endpoint& self) {
      self.tell_number(parent, 1);
      self.ask_number(parent, 1, 1'000, [&](auto answer) { answered = answer.error().code; });
    };
  });

  node->run(1'000);

  CHECK(answered == errc::shut_down);
  CHECK(node->find(parent).is_none());
}

TEST_CASE("shutting down ends with timers, asks and steps pending") {
  bool came = false;
  auto node = make_test_node();
  const auto silent = start(*node, "silent", [](testing_endpoint& made) {
    auto kept = std::make_shared<std::vector<reply_to<schema::ExecutionAttempt>>>();
    made.when_asked = [kept](auto&, auto, auto back) { kept->push_back(std::move(back)); };
  });
  start(*node, "busy", [&](testing_endpoint& made) {
    made.when_started = [&](testing_endpoint& self) {
      self.after(milliseconds(3'600'000), [&] { came = true; });
      self.ask_number(silent, 1, 600'000, [](auto) {});
      self.run_blocking<int>([] { return 1; }, [](int) {});
    };
  });

  CHECK(node->shut_down());

  CHECK(!came);
  CHECK(node->actors().size() == 0);
}

TEST_CASE("what is started after shutting down began does not run on") {
  auto node = make_test_node();
  CHECK(node->shut_down());

  CHECK(!node->ask_and_wait<schema::ExecutionAttempt>(
      {.node = node->environment().node, .endpoint = "nobody", .instance = 0}, number(1),
      milliseconds(10)));
}

} // TEST_SUITE("actors/rpc/supervision")
