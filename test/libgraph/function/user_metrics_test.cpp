#include "libgraph/function/user_metrics.hpp"

#include "libgraph/function/failure.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

namespace headrace::graph {
namespace {

const user_figure& find(const std::vector<user_figure>& in, const std::string& name) {
  const auto found =
      std::find_if(in.begin(), in.end(), [&](const auto& each) { return each.name == name; });
  REQUIRE_MESSAGE(found != in.end(), name);
  return *found;
}

} // namespace

TEST_SUITE("graph/function/user_metrics") {
TEST_CASE("each kind of metric takes values in its way") {
  user_metrics metrics;
  for (const std::int64_t value : {7, -3, 5}) {
    metrics.get(metric_kind::counter, "op", "counter").take(value);
    metrics.get(metric_kind::long_sum, "op", "sum").take(value);
    metrics.get(metric_kind::long_min, "op", "least").take(value);
    metrics.get(metric_kind::long_max, "op", "most").take(value);
    const auto real = static_cast<double>(value) / 2;
    metrics.get(metric_kind::gauge, "op", "gauge").take(real);
    metrics.get(metric_kind::double_sum, "op", "real sum").take(real);
    metrics.get(metric_kind::double_min, "op", "real least").take(real);
    metrics.get(metric_kind::double_max, "op", "real most").take(real);
    metrics.get(metric_kind::average, "op", "average").take(real);
  }

  const auto told = metrics.figures();
  CHECK(told.size() == 9);
  CHECK(find(told, "counter").integer == 9);
  CHECK(find(told, "sum").integer == 9);
  CHECK(find(told, "least").integer == -3);
  CHECK(find(told, "most").integer == 7);
  CHECK(find(told, "gauge").real == 2.5);
  CHECK(find(told, "real sum").real == 4.5);
  CHECK(find(told, "real least").real == -1.5);
  CHECK(find(told, "real most").real == 3.5);
  CHECK(find(told, "average").real == 4.5);
  CHECK(find(told, "average").count == 3);
}

TEST_CASE("what has taken nothing says so") {
  user_metrics metrics;
  metrics.get(metric_kind::long_min, "op", "least");
  CHECK(metrics.figures().front().count == 0);
}

TEST_CASE("operators have metrics of one name, each its own") {
  user_metrics metrics;
  metrics.get(metric_kind::counter, "a", "rows").take(std::int64_t{1});
  metrics.get(metric_kind::counter, "b", "rows").take(std::int64_t{5});
  const auto told = metrics.figures();
  REQUIRE(told.size() == 2);
  CHECK(told[0].integer == 1);
  CHECK(told[1].integer == 5);
  CHECK(told[1].operator_name == "b");
}

TEST_CASE("a metric of another kind, without a name, or too many are refused") {
  user_metrics metrics;
  metrics.get(metric_kind::counter, "op", "rows");
  CHECK_THROWS_WITH_AS(metrics.get(metric_kind::gauge, "op", "rows"),
                       "metric `rows` of op: it is a counter already, not a gauge [bad_usage 1004]",
                       failure);
  CHECK_THROWS_AS(metrics.get(metric_kind::counter, "op", ""), failure);
  CHECK_THROWS_AS(metrics.get(metric_kind::counter, "op", std::string(201, 'x')), failure);
  for (std::size_t i = 1; i < user_metrics::metrics_max; ++i)
    metrics.get(metric_kind::counter, "op", std::to_string(i));
  CHECK_THROWS_AS(metrics.get(metric_kind::counter, "op", "one more"), failure);
}

TEST_CASE("a histogram tells quantiles within a thirty-second") {
  value_histogram values;
  CHECK(values.quantile(0.5) == 0);
  for (std::int64_t i = 1; i <= 100'000; ++i)
    values.update(i);
  CHECK(values.count() == 100'000);
  CHECK(values.min() == 1);
  CHECK(values.max() == 100'000);
  CHECK(values.mean() == doctest::Approx(50'000.5));
  for (const double part : {0.01, 0.5, 0.95, 0.99, 1.0})
    CHECK(values.quantile(part) == doctest::Approx(part * 100'000).epsilon(1.0 / 32));
}

TEST_CASE("a histogram takes all values there are") {
  value_histogram values;
  values.update(std::numeric_limits<std::int64_t>::max());
  values.update(std::numeric_limits<std::int64_t>::min());
  values.update(0);
  values.update(15);
  values.update(16);
  values.update(31);
  values.update(32);
  CHECK(values.quantile(0) == 0);
  CHECK(values.quantile(3.0 / 7) == 15);
  CHECK(values.quantile(4.0 / 7) == 16);
  CHECK(values.quantile(5.0 / 7) == 31);
  CHECK(
      values.quantile(1) ==
      doctest::Approx(static_cast<double>(std::numeric_limits<std::int64_t>::max())).epsilon(0.04));
}
} // TEST_SUITE("graph/function/user_metrics")

} // namespace headrace::graph
