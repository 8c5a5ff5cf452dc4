#include "libactors/gateway/gateway.hpp"

#include "test/libactors/rpc/testing_endpoint.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::actors;
using headrace::testing::number;
using headrace::testing::start;
using headrace::testing::testing_endpoint;
using headrace::testing::value_of;
using std::chrono::milliseconds;

namespace {

class adder_gateway final : public gateway {
public:
  using gateway::gateway;
  void add(std::int32_t value, answer<schema::ExecutionAttempt> then) const {
    ask<schema::ExecutionAttempt>(number(value), milliseconds(100), std::move(then));
  }
};

} // namespace

TEST_SUITE("actors/gateway/gateway") {

TEST_CASE("a gateway asks with its fencing token, and one that leads nowhere fails") {
  constexpr fencing_token token{3, 4};
  std::vector<errc> failures;
  std::int32_t sum = 0;
  auto node = make_deterministic_node(1, {});
  const auto adder = start(*node, "adder", [&](testing_endpoint& made) {
    made.when_started = [&](testing_endpoint& self) { self.set_fencing_token(token); };
  });
  start(*node, "asker", [&](testing_endpoint& made) {
    made.when_started = [&](testing_endpoint& self) {
      adder_gateway(self, adder, token).add(41, [&](auto answer) { sum = value_of(*answer); });
      adder_gateway(self, adder).add(41, [&](auto answer) {
        failures.push_back(answer.error().code);
      });
      adder_gateway(self).add(41, [&](auto answer) { failures.push_back(answer.error().code); });
    };
  });

  node->run(1'000);

  CHECK(sum == 42);
  std::sort(failures.begin(), failures.end());
  CHECK(failures == std::vector{errc::endpoint_not_found, errc::fenced_off});
}

} // TEST_SUITE("actors/gateway/gateway")
