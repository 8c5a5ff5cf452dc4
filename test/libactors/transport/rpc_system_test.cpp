#include "libactors/transport/rpc_system.hpp"

#include "test/libactors/transport/testing_nodes.hpp"

#include <future>

using namespace headrace;
using namespace headrace::actors;
using headrace::testing::open_descriptors;
using headrace::testing::start;
using headrace::testing::testing_endpoint;
using headrace::testing::testing_process;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_SUITE("actors/transport/rpc_system") {

TEST_CASE("a node asks another one whose port is all that it knows") {
  testing_process one;
  testing_process two;
  start(*two.under, "adder", [](auto&) {});

  const auto met = one.meet(two);

  REQUIRE(met);
  CHECK(*met == two.id());
  const auto answer = one.ask({.node = *met, .endpoint = "adder", .instance = 0}, 41);
  REQUIRE_MESSAGE(answer, (answer ? std::string() : to_string(answer.error())));
  CHECK(*answer == 42);
}

TEST_CASE("connecting again finds the same node over the same connection") {
  testing_process one;
  testing_process two;
  for (int i = 0; i < 3; ++i) {
    const auto met = one.meet(two);
    REQUIRE(met);
    CHECK(*met == two.id());
    const auto back = two.meet(one);
    REQUIRE(back);
    CHECK(*back == one.id());
  }
  CHECK(one.rpc->counters().connections_opened == 1);
  CHECK(one.rpc->counters().nodes_lost == 0);
}

TEST_CASE("the one who was dialed asks back") {
  testing_process one;
  testing_process two;
  start(*one.under, "adder", [](auto&) {});
  REQUIRE(one.meet(two));

  const auto answer = two.ask(one.at("adder"), 1);

  REQUIRE(answer);
  CHECK(*answer == 2);
}

TEST_CASE("a node that was only told of is dialed on demand") {
  testing_process one;
  testing_process two;
  start(*two.under, "adder", [](auto&) {});
  one.rpc->learn(two.id(), two.where());

  CHECK(one.ask(two.at("adder"), 1));
  CHECK(one.rpc->counters().connections_opened == 1);
}

TEST_CASE("an endpoint that is not there is an error of the other side") {
  testing_process one;
  testing_process two;
  REQUIRE(one.meet(two));

  const auto answer = one.ask(two.at("nobody"), 1);

  REQUIRE(!answer);
  CHECK(answer.error().code == errc::endpoint_not_found);
}

TEST_CASE("a node without a known address is an error at once") {
  testing_process one;

  const auto answer = one.ask({.node = {1, 2}, .endpoint = "adder", .instance = 0}, 1);

  REQUIRE(!answer);
  CHECK(answer.error().code == errc::peer_lost);
}

TEST_CASE("nobody listens there: connecting fails at once, and says where") {
  testing_process one;

  const auto met = one.rpc->connect_and_wait({"127.0.0.1", 1}, seconds(10));

  REQUIRE(!met);
  CHECK(met.error().code == errc::connection_refused);
  CHECK(met.error().message.find("127.0.0.1:1") != std::string::npos);
}

TEST_CASE("a watched endpoint of another node ends") {
  testing_process one;
  testing_process two;
  const auto mortal = start(*two.under, "mortal", [](testing_endpoint& made) {
    made.when_told = [](testing_endpoint& self, auto, auto&) { self.quit(); };
  });
  REQUIRE(one.meet(two));
  std::promise<address> ended;
  start(*one.under, "watcher", [&](testing_endpoint& made) {
    made.when_started = [&](testing_endpoint& self) {
      self.monitor(mortal);
      self.tell_number(mortal, 1);
    };
    made.when_peer_ended = [&](auto&, const address& peer, auto&) { ended.set_value(peer); };
  });

  CHECK(ended.get_future().get() == mortal);
}

TEST_CASE("a node that leaves is lost to those who converse with it") {
  testing_process one;
  auto two = std::make_unique<testing_process>();
  const auto silent = start(*two->under, "silent", [](testing_endpoint& made) {
    auto kept = std::make_shared<std::vector<reply_to<schema::ExecutionAttempt>>>();
    made.when_told = [](auto&, auto, auto&) {};
    made.when_asked = [kept](auto&, auto, auto back) { kept->push_back(std::move(back)); };
  });
  REQUIRE(one.meet(*two));
  std::promise<errc> ended;
  start(*one.under, "watcher", [&](testing_endpoint& made) {
    made.when_started = [&](testing_endpoint& self) { self.monitor(silent); };
    made.when_peer_ended = [&](auto&, auto&, const error& cause) { ended.set_value(cause.code); };
  });
  REQUIRE(one.ask(two->at("silent/none"), 1).error().code == errc::endpoint_not_found);

  two->rpc->shut_down(seconds(5)); // before its endpoints end

  CHECK(ended.get_future().get() == errc::peer_lost);
  CHECK(one.log.count("node has left") == 1);
  CHECK(one.log.count("node is lost") == 0);
}

TEST_CASE("a transport that ends as soon as it has begun leaves no socket open") {
  { const testing_process first; } // opens what stays open
  const auto before = open_descriptors();
  for (int i = 0; i < 50; ++i) {
    testing_process here;
    if (i % 2 == 1) {
      here.rpc->connect({"localhost", here.rpc->port()}, [](auto&&) {});
    }
  }
  CHECK(open_descriptors() == before);
}

TEST_CASE("a transport that has ended takes no tick any more") { // or the leak sanitizer tells
  rpc_settings often;
  often.heartbeat_interval = milliseconds(8);
  testing_process here(often);
  start(*here.under, "silent", [](testing_endpoint& made) {
    auto kept = std::make_shared<std::vector<reply_to<schema::ExecutionAttempt>>>();
    made.when_asked = [kept](auto&, auto, auto back) { kept->push_back(std::move(back)); };
  });

  here.rpc->shut_down(seconds(5));

  const auto answer = here.ask(here.at("silent"), 1, milliseconds(50)); // many ticks long
  REQUIRE(!answer);
  CHECK(answer.error().code == errc::timed_out);
}

TEST_CASE("many asks from both sides at once arrive once, each with its answer") {
  testing_process one;
  testing_process two;
  REQUIRE(one.meet(two));
  constexpr int asks = 2'000;
  std::promise<void> done[2];
  std::atomic<int> wrong = 0;
  int side = 0;
  for (auto* here : {&one, &two}) {
    start(*here->under, "adder", [](auto&) {});
    auto* there = here == &one ? &two : &one;
    auto* told = &done[side++];
    start(*here->under, "asker", [&, there, told](testing_endpoint& made) {
      made.when_mail = [&, there, told](testing_endpoint& self, auto) {
        auto left = std::make_shared<int>(asks);
        for (int i = 0; i < asks; ++i) {
          self.ask_number(there->at("adder"), i, 20'000, [&, i, told, left](auto answer) {
            wrong += answer && headrace::testing::value_of(*answer) == i + 1 ? 0 : 1;
            if (--*left == 0) {
              told->set_value();
            }
          });
        }
      };
    });
  }
  one.under->find(one.at("asker")).send(headrace::testing::mail_of(1));
  two.under->find(two.at("asker")).send(headrace::testing::mail_of(1));

  done[0].get_future().wait();
  done[1].get_future().wait();
  CHECK(wrong == 0);
}

} // TEST_SUITE("actors/transport/rpc_system")
