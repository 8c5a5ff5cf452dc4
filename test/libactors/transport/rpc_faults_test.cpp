#include "test/libactors/transport/testing_nodes.hpp"
#include "test/libactors/transport/testing_proxy.hpp"
#include "test/support/seed.hpp"
#include "libactors/base/random.hpp"
#include "libactors/transport/frame.hpp"
#include "libactors/transport/handshake.hpp"

#include <atomic>
#include <future>

using namespace headrace;
using namespace headrace::actors;
using headrace::testing::mail_of;
using headrace::testing::raw_socket;
using headrace::testing::start;
using headrace::testing::testing_endpoint;
using headrace::testing::testing_process;
using headrace::testing::testing_proxy;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

rpc_settings with(std::function<void(rpc_settings&)> change) {
  rpc_settings out;
  change(out);
  return out;
}

} // namespace

TEST_SUITE("actors/transport/rpc_faults") {

TEST_CASE("a connection that is reset again and again loses and doubles nothing") {
  testing_process one;
  testing_process two;
  testing_proxy between(two.rpc->port());
  constexpr std::int32_t messages = 20'000;
  std::atomic<std::int32_t> expected = 0;
  std::atomic<int> disorders = 0;
  std::promise<void> all_told;
  start(*two.under, "counter", [&](testing_endpoint& made) {
    made.when_told = [&](auto&, std::int32_t value, auto&) {
      disorders += value == expected ? 0 : 1;
      if (++expected == messages) {
        all_told.set_value();
      }
    };
  });
  REQUIRE(one.rpc->connect_and_wait(between.where(), seconds(10)));
  std::promise<void> all_answered;
  std::atomic<int> wrong = 0;
  start(*one.under, "teller", [&](testing_endpoint& made) {
    auto value = std::make_shared<std::int32_t>(0);
    auto answers = std::make_shared<std::int32_t>(0);
    made.when_mail = [&, value, answers](testing_endpoint& self, auto) {
      for (int i = 0; i < 200 && *value < messages; ++i) {
        self.tell_number(two.at("counter"), *value);
        self.ask_number(
            two.at("counter"), *value, 60'000, [&, answers, sent = *value](auto answer) {
              wrong += answer && headrace::testing::value_of(*answer) == sent + 1 ? 0 : 1;
              if (++*answers == messages) {
                all_answered.set_value();
              }
            });
        ++*value;
      }
      if (*value < messages) {
        self.after(milliseconds(1), [&self] { self.self_ref().send(mail_of(1)); });
      }
    };
  });
  one.under->find(one.at("teller")).send(mail_of(1));

  int resets = 0;
  auto told = all_told.get_future();
  while (told.wait_for(milliseconds(7)) != std::future_status::ready) {
    between.reset_all();
    ++resets;
  }
  all_answered.get_future().wait();

  CHECK(resets > 0);
  CHECK(disorders == 0);
  CHECK(wrong == 0);
  CHECK(one.rpc->counters().nodes_lost == 0);
  CHECK(two.rpc->counters().nodes_lost == 0);
}

TEST_CASE("garbage and huge lengths close their own connection, and no other") {
  testing_process one;
  testing_process two;
  start(*two.under, "adder", [](auto&) {});
  REQUIRE(one.meet(two));
  const auto random = make_seeded_random(headrace::testing::seed());
  for (int i = 0; i < 50; ++i) {
    std::string bytes;
    if (i % 2 == 0) {
      bytes.resize(16);
      frame_prefix{.kind = frame_kind::hello,
                   .header_bytes = static_cast<std::uint32_t>(random->next() | 0x80000000U),
                   .body_bytes = static_cast<std::uint32_t>(random->next() | 0x80000000U)}
          .encode(bytes.data());
    } else {
      for (std::uint64_t n = 16 + random->below(3'000); n > 0; --n) {
        bytes += static_cast<char>(random->next());
      }
    }
    raw_socket stranger(two.rpc->port());
    stranger.send(bytes);
    CHECK(stranger.read_to_end().size() < 5'000); // it ends, so it was closed
  }

  CHECK(one.ask(two.at("adder"), 1));
  CHECK(two.rpc->counters().nodes_lost == 0);
  CHECK(two.log.await("connection refused"));
  CHECK(two.log.count("connection refused") <= 8); // however much there was
}

TEST_CASE("who opens a connection and says nothing is cut off") {
  testing_process one(with([](auto& settings) {
    settings.heartbeat_interval = milliseconds(50);
    settings.heartbeat_timeout = milliseconds(200);
  }));
  raw_socket silent(one.rpc->port());
  raw_socket slow(one.rpc->port());
  slow.send("HRF1");

  CHECK(silent.read_to_end().empty());
  CHECK(slow.read_to_end().empty());
}

TEST_CASE("wrong secret and other cluster are refused in words, and logged once") {
  testing_process one(with([](auto& settings) { settings.secret = "right"; }));
  testing_process guesser(with([](auto& settings) { settings.secret = "guess"; }));
  testing_process other(with([](auto& settings) {
    settings.secret = "right";
    settings.cluster_id = "other";
  }));
  for (int i = 0; i < 3; ++i) {
    const auto guessed = guesser.meet(one);
    REQUIRE(!guessed);
    CHECK(guessed.error().code == errc::registration_refused);
    CHECK(guessed.error().message.find("wrong secret") != std::string::npos);
    const auto strayed = other.meet(one);
    REQUIRE(!strayed);
    CHECK(strayed.error().message.find("'other'") != std::string::npos);
    CHECK(strayed.error().message.find("'default'") != std::string::npos);
  }

  CHECK(one.log.await("wrong secret"));
  CHECK(one.log.await("other cluster"));
  CHECK(one.log.count("wrong secret") == 1);
  CHECK(one.log.count("other cluster") == 1);
  CHECK(guesser.log.count("wrong secret") == 1);
}

TEST_CASE("a silent network is noticed by the heartbeat") {
  const auto quick = with([](auto& settings) {
    settings.heartbeat_interval = milliseconds(50);
    settings.heartbeat_timeout = milliseconds(400);
  });
  testing_process one(quick);
  auto two = std::make_unique<testing_process>(quick);
  testing_proxy between(two->rpc->port());
  start(*two->under, "adder", [](auto&) {});
  const auto met = one.rpc->connect_and_wait(between.where(), seconds(10));
  REQUIRE(met);
  std::promise<error> ended;
  start(*one.under, "watcher", [&](testing_endpoint& made) {
    made.when_started = [&](testing_endpoint& self) { self.monitor(two->at("adder")); };
    made.when_peer_ended = [&](auto&, auto&, const error& cause) { ended.set_value(cause); };
  });
  REQUIRE(one.ask(two->at("adder"), 1));

  between.hold(true);

  CHECK(ended.get_future().get().code == errc::peer_lost);
}

TEST_CASE("listening for strangers without a secret is refused") {
  auto node = make_node({});
  const auto started = rpc_system::start(*node, with([](auto& settings) {
    settings.bind = {"0.0.0.0", 0};
  }));
  REQUIRE(!started);
  CHECK(started.error().code == errc::bad_option_value);
  CHECK(started.error().message.find("security.shared-secret") != std::string::npos);
  CHECK(rpc_system::start(*node, with([](auto& settings) {
    settings.bind = {"0.0.0.0", 0};
    settings.secret = "known";
  })));
}

TEST_CASE("a port that is taken is an error that names it") {
  testing_process one;
  auto node = make_node({});
  const auto started =
      rpc_system::start(*node, with([&](auto& settings) { settings.bind = one.where(); }));
  REQUIRE(!started);
  CHECK(started.error().code == errc::connection_failed);
  CHECK(started.error().message.find(std::to_string(one.rpc->port())) != std::string::npos);
}

TEST_CASE("many pairs of nodes come and go") {
  for (int i = 0; i < 20; ++i) {
    testing_process one;
    testing_process two;
    start(*two.under, "adder", [](auto&) {});
    REQUIRE(one.meet(two));
    REQUIRE(one.ask(two.at("adder"), i));
  }
}

} // TEST_SUITE("actors/transport/rpc_faults")
