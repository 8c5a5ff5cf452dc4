#include "libactors/transport/hub.hpp"

#include "test/libactors/transport/testing_network.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

#include <numeric>

using namespace headrace;
using namespace headrace::actors;
using headrace::testing::testing_network;

namespace {

using host = testing_network::host;

void introduce(host& one, host& other) {
  one.book.learn(other.own.node, {other.name, 1});
  other.book.learn(one.own.node, {one.name, 1});
}

std::vector<std::int32_t> up_to(std::int32_t count) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

} // namespace

TEST_SUITE("actors/transport/hub") {

TEST_CASE("whoever dials, and both at once: one connection, and all arrives in order") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    testing_network net(seed);
    auto& one = net.add("one");
    auto& two = net.add("two");
    introduce(one, two);
    for (int i = 0; i < 20; ++i) {
      one.tell(two, i);
      two.tell(one, i);
    }

    for (int i = 0; i < 20; ++i) {
      net.advance(10);
    }

    CHECK(two.told_by(one) == up_to(20));
    CHECK(one.told_by(two) == up_to(20));
    CHECK(net.open_wires() == 1);
    CHECK(one.lost.empty());
    CHECK(two.lost.empty());
  }
}

TEST_CASE("connections that break at any moment lose and double nothing") {
  const auto first = headrace::testing::seed();
  for (std::uint64_t seed = first; seed < first + 300; ++seed) {
    CAPTURE(seed);
    testing_network net(seed);
    std::vector<host*> hosts = {&net.add("one"), &net.add("two"), &net.add("three")};
    introduce(*hosts[0], *hosts[1]);
    introduce(*hosts[1], *hosts[2]);
    introduce(*hosts[0], *hosts[2]);
    std::map<std::pair<host*, host*>, std::int32_t> told;
    for (int i = 0; i < 600; ++i) {
      auto* from = hosts[net.random().below(3)];
      auto* to = hosts[net.random().below(3)];
      if (from != to) {
        const auto payload_bytes = net.random().below(30) == 0 ? 70'000 : net.random().below(50);
        from->tell(*to, told[{from, to}]++, payload_bytes);
      }
      for (std::uint64_t steps = net.random().below(12); steps > 0; --steps) {
        net.step();
      }
      if (net.random().below(20) == 0) {
        net.break_one();
      }
      if (net.random().below(10) == 0) {
        net.time.advance_ms(5);
        for (auto* each : hosts) {
          each->hub->tick();
        }
      }
    }
    for (int i = 0; i < 60; ++i) {
      net.advance(50);
    }
    for (auto* from : hosts) {
      CHECK_MESSAGE(from->lost.empty(),
                    (from->lost.empty() ? std::string() : to_string(from->lost[0].second)));
      for (auto* to : hosts) {
        if (from != to) {
          CHECK(to->told_by(*from) == up_to(told[{from, to}]));
        }
      }
    }
    CHECK(net.open_wires() == 3);
  }
}

TEST_CASE("a killed peer is lost as soon as its port refuses, without waiting for time") {
  testing_network net(1);
  auto& one = net.add("one");
  auto& two = net.add("two");
  introduce(one, two);
  one.tell(two, 0);
  net.run();

  net.kill(two);
  net.run();

  REQUIRE(one.lost.size() == 1);
  CHECK(one.lost[0].first == two.own.node);
  CHECK(one.lost[0].second.code == errc::peer_lost);
}

TEST_CASE("a peer that comes back as a new instance is lost, and its successor is spoken to") {
  testing_network net(1);
  auto& one = net.add("one");
  auto& two = net.add("two");
  introduce(one, two);
  one.tell(two, 0);
  net.run();

  net.kill(two);
  auto& successor = net.add("two");
  net.run();

  REQUIRE(one.lost.size() == 1);
  CHECK(one.lost[0].first == two.own.node);
  CHECK(one.lost[0].second.has(errc::peer_lost));
  CHECK(one.lost[0].second.message.find("new instance") != std::string::npos);
  result<node_id> met = error(errc::internal, "nothing");
  one.hub->connect({"two", 1}, [&](result<node_id> found) { met = std::move(found); });
  net.run();
  REQUIRE(met);
  CHECK(*met == successor.own.node);
}

TEST_CASE("a silent peer is lost after the time-out, and both begin anew when it wakes") {
  testing_network net(3);
  auto& one = net.add("one");
  auto& two = net.add("two");
  introduce(one, two);
  one.tell(two, 0);
  net.run();
  for (int i = 0; i < 250; ++i) { // only one's clock ticks: the other stands still
    net.time.advance_ms(50);
    one.hub->tick();
  }
  REQUIRE(one.lost.size() == 1);
  CHECK(one.lost[0].second.message.find("nothing heard") != std::string::npos);

  two.tell(one, 1); // into the old conversation
  for (int i = 0; i < 10; ++i) {
    net.advance(50);
  }
  one.tell(two, 2);
  two.tell(one, 3);
  for (int i = 0; i < 10; ++i) {
    net.advance(50);
  }

  REQUIRE(two.lost.size() == 1); // it has learned that it was given up
  CHECK(two.told_by(one) == std::vector<std::int32_t>{0, 2});
  CHECK(one.told_by(two) == std::vector<std::int32_t>{3});
  CHECK(net.open_wires() == 1);
}

TEST_CASE("a process that itself stood still holds nobody for dead") {
  testing_network net(1);
  auto& one = net.add("one");
  auto& two = net.add("two");
  introduce(one, two);
  one.tell(two, 0);
  net.advance(50);

  net.time.advance_ms(60'000);
  one.hub->tick();

  CHECK(one.lost.empty());
}

TEST_CASE("who leaves says so, and is lost at once") {
  testing_network net(1);
  auto& one = net.add("one");
  auto& two = net.add("two");
  introduce(one, two);
  one.tell(two, 0);
  net.run();

  two.tell(one, 1);
  two.hub->stop();
  net.run();

  CHECK(one.told_by(two) == std::vector<std::int32_t>{1});
  REQUIRE(one.lost.size() == 1);
  CHECK(one.lost[0].second.message.find("has left") != std::string::npos);
  CHECK(one.counters.nodes_lost == 0);
  CHECK(two.hub->is_quiet());
}

TEST_CASE("who leaves while a connection is being made does not dial again") {
  testing_network net(1);
  auto& one = net.add("one");
  auto& two = net.add("two");
  introduce(one, two);
  one.tell(two, 0);

  one.hub->stop();
  net.run();
  for (int i = 0; i < 20; ++i) {
    net.advance(50);
    CHECK(one.hub->is_quiet());
  }

  CHECK(two.told_by(one).empty());
}

TEST_CASE("who has another version, cluster or secret is refused in words of both sides") {
  struct variant {
    std::function<void(node_identity&)> change;
    std::string words;
    std::string other_words;
  };
  const std::vector<variant> variants = {
      {[](auto& own) { own.product_version = "0.2.0"; }, "0.2.0", "0.1.0"},
      {[](auto& own) { own.protocol_version = 9; }, "protocol 9", "protocol 1"},
      {[](auto& own) { own.cluster_id = "other"; }, "'other'", "'test'"},
      {[](auto& own) { own.secret = "guess"; }, "wrong secret", "security.shared-secret"},
      {[](auto& own) { own.secret = ""; }, "wrong secret", "security.shared-secret"},
  };
  for (const auto& each : variants) {
    for (const bool stranger_dials : {true, false}) {
      CAPTURE(each.words);
      CAPTURE(stranger_dials);
      testing_network net(1);
      auto& one = net.add("one");
      auto& stranger = net.add("stranger", {}, each.change);
      auto& from = stranger_dials ? stranger : one;
      auto& to = stranger_dials ? one : stranger;
      result<node_id> met = node_id{};

      from.hub->connect({to.name, 1}, [&](result<node_id> found) { met = std::move(found); });
      net.run();

      REQUIRE(!met);
      CHECK(met.error().code == errc::registration_refused);
      CHECK(met.error().message.find(each.words) != std::string::npos);
      CHECK(met.error().message.find(each.other_words) != std::string::npos);
      CHECK(net.open_wires() == 0);
      CHECK(to.hub->is_quiet());
    }
  }
}

TEST_CASE("who listens on its own loopback alone is waited for, not dialed") {
  testing_network net(1);
  auto& one = net.add("one");
  auto& client = net.add("client", {}, [](auto& own) { own.host = "127.0.0.1"; });
  client.book.learn(one.own.node, {"one", 1});
  client.tell(one, 0);
  net.run();
  CHECK(!one.book.find(client.own.node)); // seen from elsewhere

  net.break_one();
  one.tell(client, 1);
  for (int i = 0; i < 10; ++i) {
    net.advance(50);
  }

  CHECK(client.told_by(one) == std::vector<std::int32_t>{1});
  CHECK(one.told_by(client) == std::vector<std::int32_t>{0});
  CHECK(one.lost.empty());
}

TEST_CASE("a handshake that does not go on is cut off") {
  testing_network net(1);
  auto& one = net.add("one");

  struct silent final : opening_receiver {
    void on_open() override {}
    void on_frame(incoming_frame /*what*/) override {}
    void on_closed(const error& /*cause*/) override { is_closed = true; }
    bool is_closed = false;
  };
  auto& dialer = net.add("dialer");
  const auto receiver = std::make_shared<silent>();
  const auto connection = dialer.dial("one", 1, receiver);
  net.run();
  CHECK(!one.hub->is_quiet());
  for (int i = 0; i < 101; ++i) {
    net.advance(50);
  }

  CHECK(receiver->is_closed);
  CHECK(one.hub->is_quiet());
}

TEST_CASE("connections that are not let in yet are limited") {
  testing_network net(1);
  auto& one = net.add("one");
  std::vector<std::shared_ptr<opening_receiver>> held;
  for (std::size_t i = 0; i < limits::unauthenticated_connections_max; ++i) {
    held.push_back(one.hub->accept());
    CHECK(held.back() != nullptr);
  }

  CHECK(one.hub->accept() == nullptr);
  held.back()->on_closed({});
  CHECK(one.hub->accept() != nullptr);
}

TEST_CASE("silent connections keep no node out: the oldest gives way") {
  struct silent final : opening_receiver {
    void on_drained() override {}
    void on_open() override {}
    void on_frame(incoming_frame /*what*/) override {}
    void on_closed(const error& /*cause*/) override { is_closed = true; }
    bool is_closed = false;
  };
  testing_network net(1);
  auto& one = net.add("one");
  auto& two = net.add("two");
  auto& stranger = net.add("stranger");
  std::vector<std::shared_ptr<silent>> silents;
  std::vector<std::shared_ptr<opening_connection>> held;
  for (std::size_t i = 0; i < limits::unauthenticated_connections_max; ++i) {
    silents.push_back(std::make_shared<silent>());
    held.push_back(stranger.dial("one", 1, silents.back()));
  }
  net.run();
  introduce(two, one);

  two.tell(one, 7);
  net.run();

  CHECK(one.envelopes.size() == 1);
  CHECK(silents.front()->is_closed);
  CHECK(std::count_if(silents.begin(), silents.end(),
                      [](const auto& each) { return each->is_closed; }) <= 2);
}

TEST_CASE("an ask that no queue takes fails with words, and a tell is counted") {
  testing_network net(1);
  auto& one = net.add("one");
  auto& two = net.add("two");
  introduce(one, two);
  for (std::size_t i = 0; i < limits::peer_queue_messages_max; ++i) {
    one.tell(two, 0);
  }

  one.ask(two, 77);
  one.tell(two, 0);

  REQUIRE(one.envelopes.size() == 1);
  CHECK(one.envelopes[0].kind == envelope_kind::failure);
  CHECK(one.envelopes[0].correlation == 77);
  CHECK(one.envelopes[0].failure.code == errc::queue_full);
  CHECK(one.counters.messages_dropped == 1);
}

TEST_CASE("the data connection is one, whoever asks for it") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    testing_network net(seed);
    auto& one = net.add("one");
    auto& two = net.add("two");
    introduce(one, two);
    struct counting final : frame_receiver {
      void on_frame(incoming_frame what) override { taken.push_back(what.header); }
      void on_closed(const error& /*cause*/) override {}
      std::vector<byte_string> taken;
    };
    const auto receiver = std::make_shared<counting>();
    one.data_receiver = receiver;
    two.data_receiver = std::make_shared<counting>();
    int made = 0;
    for (auto* each : {&one, &two}) {
      auto& other = each == &one ? two : one;
      each->hub->connect_data(other.own.node, [&, each](auto connection) {
        REQUIRE_MESSAGE(connection, (connection ? std::string() : to_string(connection.error())));
        ++made;
        if (each == &two) {
          outgoing_frame hello;
          hello.header = "hello";
          CHECK((*connection)->send(std::move(hello)));
        }
      });
    }
    for (int i = 0; i < 20; ++i) {
      net.advance(10);
    }

    CHECK(made == 2);
    CHECK(net.open_wires() == 2); // control, data
    CHECK(receiver->taken == std::vector<byte_string>{"hello"});
  }
}

} // TEST_SUITE("actors/transport/hub")
