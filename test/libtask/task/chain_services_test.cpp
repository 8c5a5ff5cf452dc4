#include "libtask/task/chain_services.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace headrace::task {

namespace {

/// Writes down what it is asked.
struct testing_services final : operator_services {
  void run_blocking(std::function<void()> step, std::function<void()> then) override {
    asked.emplace_back("run");
    step();
    then();
  }
  void after(std::chrono::milliseconds delay, std::function<void()> action) override {
    asked.push_back("after " + std::to_string(delay.count()));
    action();
  }
  std::function<void()> waker() override {
    return [this] { asked.emplace_back("wake"); };
  }
  void send_to_coordinator(operator_id, byte_string event) override {
    asked.push_back("send " + event);
  }
  void fail(error cause) override { asked.push_back("fail " + cause.message); }

  std::vector<std::string> asked;
};

void ask_all(operator_services& of, std::vector<std::string>& done) {
  of.send_to_coordinator({1, 2}, "hello");
  of.run_blocking([&done] { done.emplace_back("step"); }, [&done] { done.emplace_back("then"); });
  of.after(std::chrono::milliseconds(5), [&done] { done.emplace_back("timer"); });
  of.fail({errc::internal, "so"});
}

const std::vector<std::string> all_asked{"send hello", "run", "after 5", "fail so"};
const std::vector<std::string> all_done{"step", "then", "timer"};

} // namespace

TEST_SUITE("task/task/chain_services") {

TEST_CASE("wishes are passed on at once, or in order when they are granted") {
  testing_services to;
  std::vector<std::string> done;
  chain_services services(to);
  ask_all(services, done);
  CHECK(to.asked == all_asked);
  CHECK(done == all_done);

  to.asked.clear();
  done.clear();
  services.hold();
  ask_all(services, done);
  CHECK(to.asked.empty());
  CHECK(done.empty());

  services.grant();
  CHECK(to.asked == all_asked);
  CHECK(done == all_done);
  services.fail({errc::internal, "more"});
  CHECK(to.asked.back() == "fail more");
}

TEST_CASE("wishes of operators that are not opened after all are forgotten") {
  testing_services to;
  std::vector<std::string> done;
  chain_services services(to);
  services.hold();
  ask_all(services, done);
  services.drop();
  CHECK(to.asked.empty());

  services.send_to_coordinator({1, 2}, "bye"); // of one that closes
  CHECK(to.asked == std::vector<std::string>{"send bye"});
}

TEST_CASE("a waker is given at once, also while wishes are held, and after they are dropped") {
  testing_services to;
  chain_services services(to);
  services.hold();
  const auto wake = services.waker();
  wake();
  services.drop();
  wake();
  CHECK(to.asked == std::vector<std::string>{"wake", "wake"});
}

} // TEST_SUITE("task/task/chain_services")

} // namespace headrace::task
