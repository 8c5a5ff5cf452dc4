#include "libgraph/api/async_data_stream.hpp"

#include "test/libgraph/api/testing_values.hpp"
#include "libgraph/stream_graph/job_graph_builder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>
#include <variant>
#include <vector>

using namespace headrace;
using namespace headrace::testing;
using namespace std::chrono_literals;

namespace {

class length final : public api::async_function<std::string, std::int64_t> {
public:
  void async_invoke(const std::string& in, api::result_future<std::int64_t> result) override {
    result.complete({static_cast<std::int64_t>(in.size())});
  }
};

template <class T>
graph::async_wait_spec spec_of(const api::stream<T>& of) {
  const auto& node = of.environment().program().at(of.index());
  return std::get<graph::async_wait_spec>(std::get<graph::operator_call>(node.call).spec);
}

} // namespace

TEST_SUITE_BEGIN("graph/api/async_data_stream");

TEST_CASE("async functions are operators of their own, in either order") {
  api::environment env;
  const auto texts = env.from_collection(std::vector<std::string>{"one", "three"});
  const auto as_they_end = api::unordered_wait(texts, length(), 5s);
  const auto in_order = api::ordered_wait(texts, length(), 1min, 7);

  CHECK(as_they_end.row_type() == api::row_info<std::int64_t>::type());
  const auto first = spec_of(as_they_end);
  CHECK_FALSE(first.is_ordered);
  CHECK(first.timeout_ms == 5000);
  CHECK(first.capacity == 100);
  CHECK(first.retry == graph::async_retry_spec{});
  const auto second = spec_of(in_order);
  CHECK(second.is_ordered);
  CHECK(second.timeout_ms == 60'000);
  CHECK(second.capacity == 7);
  CHECK(second.function != first.function);
}

TEST_CASE("strategies of retries say how often, how soon, and for what") {
  api::environment env;
  const auto texts = env.from_collection(std::vector<std::string>{"one"});
  const auto fixed =
      api::fixed_delay_retry<std::int64_t>(3, 10ms).if_result(api::is_empty_result<std::int64_t>);
  const auto growing = api::exponential_backoff_retry<std::int64_t>(4, 1s, 1min, 1.5)
                           .if_exception(api::has_exception);

  CHECK(spec_of(api::ordered_wait_with_retry(texts, length(), 5s, fixed)).retry ==
        graph::async_retry_spec{3, 10, 10, 1});
  CHECK(spec_of(api::unordered_wait_with_retry(texts, length(), 5s, growing, 9)).retry ==
        graph::async_retry_spec{4, 1000, 60'000, 1.5});
  CHECK(fixed.wants_retry(std::vector<std::int64_t>{}));
  CHECK_FALSE(fixed.wants_retry(std::vector<std::int64_t>{1}));
  CHECK_FALSE(fixed.wants_retry(std::string("busy")));
  CHECK(growing.wants_retry(std::string("busy")));
  CHECK_FALSE(growing.wants_retry(std::vector<std::int64_t>{}));
}

TEST_CASE("calls end where the task takes them, and wake it once") {
  int wakes = 0;
  const auto results = std::make_shared<api::async_results<std::string>>([&wakes] { ++wakes; });
  const api::result_future<std::string> first(results, 1);
  const api::result_future<std::string> second(results, 2);

  results->watch(true);
  first.complete({"a"});
  CHECK(wakes == 0); // the task is about to look
  results->watch(false);
  std::vector<api::async_results<std::string>::ended> taken;
  results->take(taken);
  CHECK(taken.size() == 1);
  CHECK_FALSE(results->has_ended());

  taken.clear();
  second.complete_exceptionally("b");
  first.fail_for_timeout();
  CHECK(wakes == 1);
  CHECK(results->has_ended());
  results->take(taken);
  REQUIRE(taken.size() == 2);
  CHECK(taken[0].call == 2);
  CHECK(taken[0].failure == "b");
  CHECK(taken[1].outcome == graph::async_outcome::timed_out);

  results->close();
  second.complete({"c"});
  CHECK_FALSE(results->has_ended());
  CHECK(wakes == 1);
}

TEST_SUITE_END();
