#include "libactors/rpc/node.hpp"

#include "test/libactors/rpc/testing_endpoint.hpp"
#include "test/support/seed.hpp"
#include "libactors/registry/actor_registry.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <fstream>
#include <future>
#include <latch>
#include <mutex>
#include <sys/resource.h>
#include <unistd.h>

using namespace headrace;
using namespace headrace::actors;
using headrace::testing::mail_of;
using headrace::testing::number;
using headrace::testing::start;
using headrace::testing::testing_endpoint;
using headrace::testing::value_of;
using std::chrono::milliseconds;

namespace {

/// That this process has mapped.
std::size_t address_space_bytes() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Runs a little cluster of actors that draw, ask, set timers and run steps, and returns what
/// happened, in order.
std::string trace_of(std::uint64_t seed) {
  std::string trace;
  std::vector<address> all;
  auto node = make_deterministic_node(seed, {});
  for (int i = 0; i < 4; ++i) {
    all.push_back(start(
        *node, "actor" + std::to_string(i),
        [&, i](testing_endpoint& made) {
          made.when_mail = [&, i](testing_endpoint& self, auto kind) {
            trace += std::to_string(i) + 'm' + std::to_string(kind) + ' ';
            self.run_blocking<int>([] { return 1; },
                                   [&, i](int) { trace += 's' + std::to_string(i) + ' '; });
          };
          made.when_asked = [&, i](testing_endpoint& self, auto value, auto back) {
            trace += std::to_string(i) + 'a' + std::to_string(value) + ' ';
            const auto delay = static_cast<int>(self.environment().random.below(5));
            auto held = std::make_shared<decltype(back)>(std::move(back));
            self.after(milliseconds(delay), [held, value] { held->send(number(value)); });
          };
        },
        i % 2 == 0 ? placement::control : placement::shared));
  }
  node->run(1'000);
  start(*node, "driver", [&](testing_endpoint& made) {
    made.when_started = [&](testing_endpoint& self) {
      for (int i = 0; i < 8; ++i) {
        const auto& to = all[self.environment().random.below(all.size())];
        node->find(to).send(mail_of(static_cast<std::uint32_t>(i)));
        self.ask_number(to, i, 3, [&, i](auto answer) {
          trace += 'r' + std::to_string(i) + (answer ? "+ " : "- ");
        });
      }
    };
  });
  node->advance(milliseconds(20));
  trace += std::to_string(node->steps());
  return trace;
}

} // namespace

TEST_SUITE("actors/rpc/node") {

TEST_CASE("a seed decides the whole run") {
  const auto first = headrace::testing::seed();
  std::set<std::string> traces;
  for (std::uint64_t seed = first; seed < first + 1'000; ++seed) {
    const auto trace = trace_of(seed);
    REQUIRE(trace == trace_of(seed));
    traces.insert(trace);
  }
  CHECK(traces.size() > 900); // and another seed another run
}

TEST_CASE("an actor on threads answers") {
  for (const auto where : {placement::control, placement::shared}) {
    auto node = make_node({});
    const auto adder = start(
        *node, "adder", [](auto&) {}, where);

    const auto answer =
        node->ask_and_wait<schema::ExecutionAttempt>(adder, number(41), milliseconds(10'000));

    REQUIRE(answer);
    CHECK(value_of(*answer) == 42);
    CHECK(node->shut_down());
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // which reserve memory at will

TEST_CASE("an actor for which no thread can be started has ended, for its parent") {
  constexpr int wanted = 64;
  auto node = make_node({});
  std::promise<void> done;
  std::atomic<int> ended = 0;
  start(*node, "parent", [&](testing_endpoint& made) {
    made.when_child_ended = [&](testing_endpoint& self, auto& /*name*/, const error& cause) {
      CHECK(cause.message.find("no thread can be started") != std::string::npos);
      ++ended;
      CHECK(self.child_ref("child").is_none());
    };
    made.when_mail = [&](testing_endpoint&, auto) { done.set_value(); };
    made.when_started = [&](testing_endpoint& self) {
      rlimit before{};
      getrlimit(RLIMIT_AS, &before);
      auto little = before;
      little.rlim_cur = address_space_bytes() + (std::size_t{6} << 20U); // a stack takes 8 MiB
      setrlimit(RLIMIT_AS, &little);
      for (int i = 0; i < wanted; ++i)
        self.spawn(std::make_unique<testing_endpoint>(), {.name = "child" + std::to_string(i),
                                                          .kind = "testing",
                                                          .where = placement::control,
                                                          .policy = supervision::notify,
                                                          .addressable = true});
      setrlimit(RLIMIT_AS, &before);
      self.self_ref().send(mail_of(1)); // behind the news of ends
    };
  });
  done.get_future().wait();

  CHECK(ended > 0);
  CHECK(node->shut_down());
}

#endif

TEST_CASE("mail between threads keeps its order") {
  constexpr std::uint32_t mails = 20'000;
  auto node = make_node({});
  std::promise<bool> done;
  std::uint32_t expected = 0;
  bool in_order = true;
  const auto receiver = start(
      *node, "receiver",
      [&](testing_endpoint& made) {
        made.when_mail = [&](auto&, std::uint32_t kind) {
          in_order = in_order && kind == expected;
          if (++expected == mails) {
            done.set_value(in_order);
          }
        };
      },
      placement::shared);
  start(
      *node, "sender",
      [&](testing_endpoint& made) {
        made.when_started = [&](testing_endpoint&) {
          const auto ref = node->find(receiver);
          for (std::uint32_t i = 0; i < mails; ++i) {
            ref.send(mail_of(i));
          }
        };
      },
      placement::control);

  CHECK(done.get_future().get());
}

TEST_CASE("timers, steps and deadlines work on threads") {
  auto node = make_node({});
  std::promise<std::vector<std::string>> done;
  const auto silent = start(*node, "silent", [](testing_endpoint& made) {
    auto kept = std::make_shared<std::vector<reply_to<schema::ExecutionAttempt>>>();
    made.when_asked = [kept](auto&, auto, auto back) { kept->push_back(std::move(back)); };
  });
  auto seen = std::make_shared<std::vector<std::string>>();
  start(*node, "one", [&, seen](testing_endpoint& made) {
    made.when_started = [&, seen](testing_endpoint& self) {
      const auto note = [&, seen](std::string what) {
        seen->push_back(std::move(what));
        if (seen->size() == 3) {
          std::sort(seen->begin(), seen->end());
          done.set_value(*seen);
        }
      };
      self.after(milliseconds(1), [note] { note("timer"); });
      self.run_blocking<int>([] { return 1; }, [note](int) { note("step"); });
      self.ask_number(silent, 1, 2,
                      [note](auto answer) { note(std::string(name_of(answer.error().code))); });
    };
  });

  CHECK(done.get_future().get() == std::vector<std::string>{"step", "timed_out", "timer"});
}

TEST_CASE("shutting down with pending timers and asks ends at once") {
  auto node = make_node({});
  std::promise<void> started;
  start(*node, "one", [&](testing_endpoint& made) {
    made.when_started = [&](testing_endpoint& self) {
      self.after(std::chrono::hours(1), [] {});
      for (int i = 0; i < 10; ++i) {
        self.spawn(std::make_unique<testing_endpoint>(),
                   {.name = std::to_string(i),
                    .kind = "testing",
                    .where = i % 2 == 0 ? placement::control : placement::shared});
      }
      started.set_value();
    };
  });
  started.get_future().wait();

  CHECK(node->shut_down());
  CHECK(node->actors().size() == 0);
}

TEST_CASE("an actor that is stuck in a turn is named, and does not hold up the end") {
  std::mutex guard;
  std::vector<std::string> lines;
  node_options options;
  options.shutdown_deadline = milliseconds(50);
  options.log = logger::to(
      [&](log_level level, std::string_view line) {
        if (level == log_level::error) {
          const std::lock_guard lock(guard);
          lines.emplace_back(line);
        }
      },
      log_level::error);
  auto node = make_node(std::move(options));
  std::latch release(1);
  std::promise<void> stuck;
  start(*node, "sleeper", [&](testing_endpoint& made) {
    made.when_mail = [&](auto&, auto) {
      stuck.set_value();
      release.wait();
    };
  });
  node->find({.node = node->environment().node, .endpoint = "sleeper", .instance = 0})
      .send(mail_of(1));
  stuck.get_future().wait();

  CHECK(!node->shut_down());

  {
    const std::lock_guard lock(guard);
    const auto named = std::find_if(lines.begin(), lines.end(), [](const auto& line) {
      return line.find("did not end in time") != std::string::npos &&
             line.find("endpoint=sleeper") != std::string::npos;
    });
    CHECK(named != lines.end());
  }
  release.count_down(); // so that the node can end in order
  node.reset();
}

TEST_CASE("handles and responders may outlive the node") {
  auto node = make_node({});
  reply_to<schema::ExecutionAttempt> kept;
  std::promise<void> asked;
  const auto where = start(*node, "keeper", [&](testing_endpoint& made) {
    made.when_asked = [&](auto&, auto, auto back) {
      kept = std::move(back);
      asked.set_value();
    };
  });
  start(*node, "asker", [&](testing_endpoint& made) {
    made.when_started = [&](testing_endpoint& self) {
      self.ask_number(where, 1, 10'000, [](auto) {});
    };
  });
  asked.get_future().wait();
  const auto ref = node->find(where);

  node.reset();

  ref.send(mail_of(1));
  kept.send(number(1));
}

TEST_CASE("many actors come and go on threads") {
  auto node = make_node({});
  std::promise<void> done;
  start(*node, "parent", [&](testing_endpoint& made) {
    auto ended = std::make_shared<int>(0);
    made.when_child_ended = [&, ended](auto&, auto&, auto&) {
      if (++*ended == 2'000) {
        done.set_value();
      }
    };
    made.when_started = [](testing_endpoint& self) {
      for (int i = 0; i < 2'000; ++i) {
        auto child = std::make_unique<testing_endpoint>();
        child->when_started = [](testing_endpoint& inner) { inner.quit(); };
        self.spawn(std::move(child),
                   {.name = std::to_string(i), .kind = "testing", .where = placement::shared});
      }
    };
  });

  done.get_future().wait();
  CHECK(node->shut_down());
}

TEST_CASE("an actor's counts are seen from outside") {
  auto node = make_deterministic_node(1, {});
  const auto where = start(
      *node, "counted", [](testing_endpoint& made) { made.when_told = [](auto&, auto, auto&) {}; },
      placement::shared);
  node->run(100);
  node->find(where).send(mail_of(3));
  node->find(where).send(mail_of(3));

  const auto find = [&] {
    for (const auto& each : node->actors().snapshot(0)) {
      if (each.name == "counted") {
        return each;
      }
    }
    return actor_snapshot();
  };
  CHECK(find().queue_depth == 2);
  CHECK(find().parent == "root");
  CHECK(find().kind == "testing");
  node->run(100);

  CHECK(find().queue_depth == 0);
  CHECK(find().state == actor_state::running);
  REQUIRE(find().messages.size() == 1);
  CHECK(find().messages[0] == message_count{.type_id = 3, .is_mail = true, .count = 2});
}

} // TEST_SUITE("actors/rpc/node")
