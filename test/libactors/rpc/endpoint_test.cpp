#include "test/libactors/rpc/testing_endpoint.hpp"
#include "test/support/seed.hpp"
#include "libactors/registry/actor_registry.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace headrace;
using namespace headrace::actors;
using headrace::testing::mail_of;
using headrace::testing::number;
using headrace::testing::start;
using headrace::testing::testing_endpoint;
using headrace::testing::value_of;
using std::chrono::milliseconds;

namespace {

std::unique_ptr<deterministic_node> make_test_node() {
  return make_deterministic_node(headrace::testing::seed(), {});
}

constexpr fencing_token old_token{1, 1};
constexpr fencing_token new_token{2, 2};

} // namespace

TEST_SUITE("actors/rpc/endpoint") {

TEST_CASE("an ask from outside is answered") {
  auto node = make_test_node();
  const auto where = start(*node, "adder", [](auto&) {});

  const auto answer =
      node->ask_and_wait<schema::ExecutionAttempt>(where, number(41), milliseconds(100));

  REQUIRE(answer);
  CHECK(value_of(*answer) == 42);
}

TEST_CASE("an endpoint is found by its name in whichever instance") {
  auto node = make_test_node();
  auto where = start(*node, "adder", [](auto&) {});
  where.instance = 0;

  CHECK(node->ask_and_wait<schema::ExecutionAttempt>(where, number(1), milliseconds(100)));
  CHECK(!node->find(where).is_none());
}

TEST_CASE("an ask that nobody answers ends at its deadline") {
  std::vector<reply_to<schema::ExecutionAttempt>> kept;
  auto node = make_test_node();
  const auto silent = start(*node, "silent", [&](testing_endpoint& made) {
    made.when_asked = [&](auto&, auto, auto back) { kept.push_back(std::move(back)); };
  });
  const auto& time = node->environment().time;
  const auto began_us = time.now_us();

  const auto answer =
      node->ask_and_wait<schema::ExecutionAttempt>(silent, number(1), milliseconds(250));

  REQUIRE(!answer);
  CHECK(answer.error().code == errc::timed_out);
  CHECK(time.now_us() - began_us == 250'000);
  kept.clear(); // answers into the void
}

TEST_CASE("an answer after the deadline is dropped") {
  std::vector<errc> answers;
  auto node = make_test_node();
  const auto slow = start(*node, "slow", [](testing_endpoint& made) {
    made.when_asked = [](testing_endpoint& self, auto value, auto back) {
      auto held = std::make_shared<reply_to<schema::ExecutionAttempt>>(std::move(back));
      self.after(milliseconds(20), [held, value] { held->send(number(value)); });
    };
  });
  start(*node, "asker", [&](testing_endpoint& made) {
    made.when_started = [&](testing_endpoint& self) {
      self.ask_number(slow, 1, 10, [&](auto answer) {
        answers.push_back(answer ? errc::none : answer.error().code);
      });
    };
  });

  node->advance(milliseconds(50));

  CHECK(answers == std::vector{errc::timed_out});
}

TEST_CASE("an ask of an unknown name fails at once") {
  auto node = make_test_node();

  const auto answer = node->ask_and_wait<schema::ExecutionAttempt>(
      {.node = node->environment().node, .endpoint = "nobody", .instance = 0}, number(1),
      milliseconds(1'000));

  REQUIRE(!answer);
  CHECK(answer.error().code == errc::endpoint_not_found);
  CHECK(node->environment().time.now_us() == 0);
}

TEST_CASE("an ask of a node that is not connected fails at once") {
  auto node = make_test_node();

  const auto answer = node->ask_and_wait<schema::ExecutionAttempt>(
      {.node = {7, 7}, .endpoint = "dispatcher", .instance = 0}, number(1), milliseconds(1'000));

  REQUIRE(!answer);
  CHECK(answer.error().code == errc::peer_lost);
}

TEST_CASE("a restarted endpoint does not take what is for the instance before") {
  auto node = make_test_node();
  const auto first = start(*node, "adder", [](auto&) {});
  node->run(100);
  node->kill(first);
  node->run(100);
  const auto second = start(*node, "adder", [](auto&) {});
  REQUIRE(second.instance > first.instance);

  const auto answer =
      node->ask_and_wait<schema::ExecutionAttempt>(first, number(1), milliseconds(1'000));

  REQUIRE(!answer);
  CHECK(answer.error().code == errc::peer_lost);
}

TEST_CASE("an ask that waits in the mailbox of a killed actor fails with peer_lost") {
  std::vector<errc> answers;
  auto node = make_test_node();
  const auto victim = start(*node, "victim", [](auto&) {});
  node->run(1'000);
  start(*node, "asker", [&](testing_endpoint& made) {
    made.when_started = [&](testing_endpoint& self) {
      for (int i = 0; i < 3; ++i) {
        self.ask_number(victim, i, 1'000, [&](auto answer) {
          answers.push_back(answer ? errc::none : answer.error().code);
        });
      }
      node->kill(victim);
    };
  });

  node->run(1'000);

  CHECK(answers == std::vector{errc::peer_lost, errc::peer_lost, errc::peer_lost});
  CHECK(node->environment().time.now_us() == 0);
}

TEST_CASE("an ask that an actor kept when it was killed fails with peer_lost") {
  auto node = make_test_node();
  const auto victim = start(*node, "victim", [](testing_endpoint& made) {
    auto kept = std::make_shared<std::vector<reply_to<schema::ExecutionAttempt>>>();
    made.when_asked = [kept](auto&, auto, auto back) { kept->push_back(std::move(back)); };
  });
  errc answered = errc::none;
  start(*node, "asker", [&](testing_endpoint& made) {
    made.when_started = [&](testing_endpoint& self) {
      self.ask_number(victim, 1, 1'000, [&](auto answer) { answered = answer.error().code; });
    };
  });
  node->run(1'000);
  REQUIRE(answered == errc::none);

  node->kill(victim);
  node->run(1'000);

  CHECK(answered == errc::peer_lost);
}

TEST_CASE("an ask whose answer an endpoint awaited when it stopped fails with peer_lost") {
  auto node = make_test_node();
  std::vector<reply_to<schema::ExecutionAttempt>> kept;
  const auto silent = start(*node, "silent", [&](testing_endpoint& made) {
    made.when_asked = [&](auto&, auto, auto back) { kept.push_back(std::move(back)); };
  });
  const auto between = start(*node, "between", [&](testing_endpoint& made) {
    made.when_asked = [&](testing_endpoint& self, auto, auto back) {
      auto answer = std::make_shared<reply_to<schema::ExecutionAttempt>>(std::move(back));
      self.ask_number(silent, 1, 1'000, [answer](auto) {});
      self.after(milliseconds(1), [&self] { self.quit({}); });
    };
  });

  const auto answer =
      node->ask_and_wait<schema::ExecutionAttempt>(between, number(1), milliseconds(100));

  CHECK(kept.size() == 1);
  REQUIRE(!answer);
  CHECK(answer.error().code == errc::peer_lost);
}

TEST_CASE("an ask that is dropped by a living endpoint fails") {
  auto node = make_test_node();
  const auto where = start(*node, "forgetful", [](testing_endpoint& made) {
    made.when_asked = [](auto&, auto, auto) {};
  });

  const auto answer =
      node->ask_and_wait<schema::ExecutionAttempt>(where, number(1), milliseconds(100));

  REQUIRE(!answer);
  CHECK(answer.error().code == errc::internal);
}

TEST_CASE("a message of a type without a handler is refused") {
  auto node = make_test_node();
  const auto where = start(*node, "adder", [](auto&) {});

  const auto answer = node->ask_and_wait<schema::Acknowledge>(
      where, headrace::testing::acknowledge(), milliseconds(100));

  REQUIRE(!answer);
  CHECK(answer.error().code == errc::malformed_message);
}

TEST_CASE("a message that its handler cannot read does not end the actor") {
  auto node = make_test_node();
  int told = 0;
  const auto where = start(*node, "reader", [&](testing_endpoint& made) {
    made.when_asked = [](auto&, std::int32_t value, auto back) {
      if (value < 0)
        kj::throwFatalException(KJ_EXCEPTION(FAILED, "pointer out of bounds"));
      back.send(number(value));
    };
    made.when_told = [&](auto&, std::int32_t value, const auto&) {
      if (++told, value == 7)
        kj::throwFatalException(KJ_EXCEPTION(FAILED, "pointer out of bounds"));
    };
  });

  const auto refused =
      node->ask_and_wait<schema::ExecutionAttempt>(where, number(-1), milliseconds(100));
  REQUIRE(!refused);
  CHECK(refused.error().code == errc::malformed_message);
  CHECK(refused.error().message.find("pointer out of bounds") != std::string::npos);

  start(*node, "teller", [&](testing_endpoint& made) {
    made.when_started = [&](auto& self) {
      self.tell_number(where, 7);
      self.tell_number(where, 8);
    };
  });
  node->run(1'000);
  CHECK(told == 2);
  CHECK(node->ask_and_wait<schema::ExecutionAttempt>(where, number(3), milliseconds(100)));
  for (const auto& each : node->actors().snapshot(node->environment().time.now_us()))
    if (each.name == "reader")
      CHECK(each.refused == 2);
}

TEST_CASE("a handler that throws ends its endpoint, and its ask with an error") {
  auto node = make_test_node();
  const auto where = start(*node, "thrower", [](testing_endpoint& made) {
    made.when_asked = [](auto&, std::int32_t, auto) { throw std::runtime_error("broken"); };
  });

  const auto answer =
      node->ask_and_wait<schema::ExecutionAttempt>(where, number(1), milliseconds(100));

  REQUIRE(!answer);
  CHECK(answer.error().code == errc::internal);
  node->run(1'000);
  CHECK(node->ask_and_wait<schema::ExecutionAttempt>(where, number(1), milliseconds(100))
            .error()
            .code == errc::peer_lost);
}

TEST_CASE("a stale fencing token is refused and the current one is taken") {
  std::vector<std::int32_t> told;
  auto node = make_test_node();
  const auto leader = start(*node, "leader", [&](testing_endpoint& made) {
    made.when_started = [](auto& self) { self.set_fencing_token(new_token); };
    made.when_told = [&](auto&, auto value, auto&) { told.push_back(value); };
  });
  std::vector<errc> answers;
  start(*node, "asker", [&](testing_endpoint& made) {
    made.when_started = [&](testing_endpoint& self) {
      const auto note = [&](auto answer) {
        answers.push_back(answer ? errc::none : answer.error().code);
      };
      self.ask_number(leader, 1, 100, note, old_token);
      self.ask_number(leader, 1, 100, note);
      self.ask_number(leader, 1, 100, note, new_token);
      self.tell_number(leader, 1, old_token);
      self.tell_number(leader, 2, new_token);
    };
  });

  node->run(1'000);

  CHECK(answers == std::vector{errc::fenced_off, errc::fenced_off, errc::none});
  CHECK(told == std::vector<std::int32_t>{2});
  const auto seen = node->actors().snapshot(0);
  const auto record = std::find_if(seen.begin(), seen.end(),
                                   [](const auto& each) { return each.name == "leader"; });
  REQUIRE(record != seen.end());
  CHECK(record->refused == 3);
}

TEST_CASE("control goes before mail, and mail keeps its order") {
  std::vector<std::string> order;
  auto node = make_test_node();
  const auto receiver = start(*node, "receiver", [&](testing_endpoint& made) {
    made.when_mail = [&](auto&, auto kind) { order.push_back("mail " + std::to_string(kind)); };
    made.when_told = [&](auto&, auto, auto&) { order.push_back("told"); };
  });
  node->run(100);
  const auto ref = node->find(receiver);
  start(*node, "sender", [&](testing_endpoint& made) {
    made.when_started = [&](testing_endpoint& self) {
      ref.send(mail_of(1));
      ref.send(mail_of(2));
      self.tell_number(receiver, 0);
      ref.send(mail_of(3), mail_priority::high);
    };
  });

  node->run(1'000);

  CHECK(order == std::vector<std::string>{"told", "mail 3", "mail 1", "mail 2"});
}

TEST_CASE("timers fire in order of time and then of age, and a canceled one does not") {
  std::vector<int> fired;
  auto node = make_test_node();
  start(*node, "timed", [&](testing_endpoint& made) {
    made.when_started = [&](testing_endpoint& self) {
      self.after(milliseconds(20), [&] { fired.push_back(3); });
      self.after(milliseconds(10), [&] { fired.push_back(1); });
      const auto canceled = self.after(milliseconds(10), [&] { fired.push_back(-1); });
      self.after(milliseconds(10), [&, canceled] {
        fired.push_back(2);
        self.cancel_timer(canceled);
      });
      self.cancel_timer(canceled);
    };
  });

  node->advance(milliseconds(15));
  CHECK(fired == std::vector{1, 2});
  node->advance(milliseconds(5));
  CHECK(fired == std::vector{1, 2, 3});
  CHECK(!node->advance_to_next_timer());
}

TEST_CASE("a timer that sets itself again without delay lets other turns pass") {
  int fired = 0;
  bool told = false;
  auto node = make_test_node();
  const auto busy = start(*node, "busy", [&](testing_endpoint& made) {
    made.when_told = [&](auto&, auto, auto&) { told = true; };
    made.when_started = [&](testing_endpoint& self) {
      auto again = std::make_shared<std::function<void()>>();
      *again = [&, weak = std::weak_ptr(again)] {
        ++fired;
        self.after(milliseconds(0), *weak.lock());
      };
      self.after(milliseconds(0), *again);
      static_cast<void>(std::make_shared<decltype(again)>(again));
      self.after(milliseconds(1'000'000), [again] {});
    };
  });
  start(*node, "teller", [&](testing_endpoint& made) {
    made.when_started = [&](testing_endpoint& self) { self.tell_number(busy, 1); };
  });

  CHECK(node->run_until([&] { return told && fired > 10; }, 1'000));
}

TEST_CASE("what runs later runs behind what waits") {
  std::vector<std::uint32_t> order;
  auto node = make_test_node();
  const auto where = start(*node, "one", [&](testing_endpoint& made) {
    made.when_mail = [&](testing_endpoint& self, auto kind) {
      order.push_back(kind);
      if (kind == 1) {
        self.later([&] { order.push_back(100); });
      }
    };
  });
  node->run(100);
  node->find(where).send(mail_of(1));
  node->find(where).send(mail_of(2));

  node->run(100);

  CHECK(order == std::vector<std::uint32_t>{1, 2, 100});
}

TEST_CASE("a blocking step hands its value back in a turn") {
  std::string got;
  auto node = make_test_node();
  start(*node, "reader", [&](testing_endpoint& made) {
    made.when_started = [&](testing_endpoint& self) {
      self.run_blocking<std::string>([] { return std::string("content"); },
                                     [&](std::string value) { got = std::move(value); });
    };
  });

  node->run(100);

  CHECK(got == "content");
}

TEST_CASE("the value of a blocking step is dropped when the endpoint has ended") {
  bool ran = false;
  bool came = false;
  auto node = make_test_node();
  const auto where = start(*node, "reader", [&](testing_endpoint& made) {
    made.when_mail = [&](testing_endpoint& self, auto) {
      self.run_blocking<int>([&] { return ran = true, 1; }, [&](int) { came = true; });
      self.quit();
    };
  });
  node->run(100);
  node->find(where).send(mail_of(1));

  node->run(100);

  CHECK(ran);
  CHECK(!came);
}

TEST_CASE("a blocking step that throws ends the endpoint by name of the exception") {
  error ended;
  auto node = make_test_node();
  start(*node, "parent", [&](testing_endpoint& made) {
    made.when_child_ended = [&](auto&, auto&, const error& cause) { ended = cause; };
    made.when_started = [&](testing_endpoint& self) {
      auto child = std::make_unique<testing_endpoint>();
      child->when_started = [](testing_endpoint& inner) {
        inner.run_blocking<int>([]() -> int { throw std::runtime_error("disk on fire"); },
                                [](int) {});
      };
      self.spawn(std::move(child), {.name = "child", .kind = "testing"});
    };
  });

  node->run(100);

  CHECK(ended.code == errc::internal);
  CHECK(ended.message == "disk on fire");
}

} // TEST_SUITE("actors/rpc/endpoint")
