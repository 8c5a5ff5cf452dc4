#include "test/libactors/transport/testing_nodes.hpp"

#include <spawn.h>

#include <csignal>
#include <fcntl.h>
#include <future>
#include <iostream>
#include <sys/wait.h>
#include <unistd.h>

using namespace headrace;
using namespace headrace::actors;
using headrace::testing::start;
using headrace::testing::testing_endpoint;
using headrace::testing::testing_process;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr auto child_case = "child process: a node with an adder";

rpc_settings settings_of(milliseconds timeout) {
  rpc_settings out;
  out.heartbeat_interval = timeout / 10;
  out.heartbeat_timeout = timeout;
  return out;
}

/// Another process of this program with a node in it; killed at the latest with this.
class child_process {
public:
  explicit child_process(milliseconds timeout) {
    int out[2];
    int in[2];
    REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(in, O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    std::string name = std::string("-tc=") + child_case;
    std::string no_skip = "-ns";
    std::string program = "/proc/self/exe";
    std::string limit = "HEADRACE_TEST_TIMEOUT_MS=" + std::to_string(timeout.count());
    char* arguments[] = {program.data(), name.data(), no_skip.data(), nullptr};
    char* surroundings[] = {limit.data(), nullptr};
    REQUIRE(::posix_spawn(&id_, program.c_str(), &actions, nullptr, arguments, surroundings) == 0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(out[1]);
    ::close(in[0]);
    from_ = out[0];
    to_ = in[1];
    port_ = static_cast<std::uint16_t>(std::stoi(read_after("PORT ")));
  }
  ~child_process() {
    signal(SIGKILL);
    ::close(to_);
    ::close(from_);
    ::waitpid(id_, nullptr, 0);
  }
  void signal(int which) const { ::kill(id_, which); }
  host_port where() const { return {"127.0.0.1", port_}; }

private:
  std::string read_after(const std::string& words) {
    std::string all;
    char letter = 0;
    while (::read(from_, &letter, 1) == 1) {
      all += letter;
      const auto at = all.find(words);
      if (letter == '\n' && at != std::string::npos) {
        return all.substr(at + words.size());
      }
    }
    FAIL("the child ended early: " << all);
    return {};
  }

  pid_t id_ = 0;
  int from_ = -1;
  int to_ = -1;
  std::uint16_t port_ = 0;
};

/// Watches an endpoint of the child. @returns what is set when it ends
std::future<error> watch(testing_process& from, const address& endpoint) {
  auto ended = std::make_shared<std::promise<error>>();
  start(*from.under, "watcher", [ended, endpoint](testing_endpoint& made) {
    made.when_started = [endpoint](testing_endpoint& self) { self.monitor(endpoint); };
    made.when_peer_ended = [ended](auto&, auto&, const error& cause) { ended->set_value(cause); };
  });
  return ended->get_future();
}

} // namespace

TEST_SUITE("actors/transport/child_process") {

TEST_CASE("child process: a node with an adder" * doctest::skip()) {
  const char* limit = std::getenv("HEADRACE_TEST_TIMEOUT_MS"); // lint(environment): from the parent
  REQUIRE(limit != nullptr);
  testing_process self(settings_of(milliseconds(std::stoi(limit))));
  start(*self.under, "adder", [](auto&) {});
  std::cout << "PORT " << self.rpc->port() << std::endl;
  char letter = 0;
  while (::read(0, &letter, 1) > 0) {
  }
}

TEST_CASE("kill -9 of a peer is noticed long before any heartbeat is due") {
  testing_process one(settings_of(seconds(600)));
  child_process child(seconds(600));
  const auto met = one.rpc->connect_and_wait(child.where(), seconds(20));
  REQUIRE(met);
  const address adder{.node = *met, .endpoint = "adder", .instance = 0};
  auto ended = watch(one, adder);
  REQUIRE(one.ask(adder, 1));

  child.signal(SIGKILL);

  CHECK(ended.get().code == errc::peer_lost);
  const auto answer = one.ask(adder, 1);
  REQUIRE(!answer);
  CHECK(answer.error().code == errc::peer_lost);
}

TEST_CASE("a stopped peer is lost by the heartbeat, and spoken to anew when it goes on") {
  testing_process one(settings_of(milliseconds(500)));
  child_process child(milliseconds(500));
  const auto met = one.rpc->connect_and_wait(child.where(), seconds(20));
  REQUIRE(met);
  const address adder{.node = *met, .endpoint = "adder", .instance = 0};
  auto ended = watch(one, adder);
  REQUIRE(one.ask(adder, 1));

  child.signal(SIGSTOP);
  CHECK(ended.get().code == errc::peer_lost);
  child.signal(SIGCONT);

  result<std::int32_t> answer = error(errc::internal, "not asked");
  for (int tries = 0; tries < 50 && !answer; ++tries) {
    answer = one.ask(adder, 5, milliseconds(2'000));
  }
  REQUIRE(answer);
  CHECK(*answer == 6);
}

} // TEST_SUITE("actors/transport/child_process")
