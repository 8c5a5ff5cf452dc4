#include "libscheduler/job_master/accumulators.hpp"

#include <doctest/doctest.h>

#include <deque>

namespace headrace::scheduler {
namespace {

using graph::metric_kind;

/// Of subtasks that have taken these values, one after the other, each by itself.
class reports {
public:
  void add(metric_kind kind, const std::string& name, const std::vector<double>& values) {
    graph::user_metrics of;
    auto& one = of.get(kind, "op", name);
    const bool is_real = kind == metric_kind::double_sum || kind == metric_kind::double_min ||
                         kind == metric_kind::double_max || kind == metric_kind::average ||
                         kind == metric_kind::gauge;
    for (const auto value : values) {
      if (is_real)
        one.take(value);
      else
        one.take(static_cast<std::int64_t>(value));
    }
    for (auto& each : of.figures())
      figures_.push_back(std::move(each));
  }
  std::vector<accumulator_result> merged() const {
    std::vector<const graph::user_figure*> all;
    for (const auto& each : figures_)
      all.push_back(&each);
    return merge_accumulators(all);
  }

private:
  std::deque<graph::user_figure> figures_;
};

} // namespace

TEST_SUITE("scheduler/job_master/accumulators") {
TEST_CASE("accumulators of a name come to one, over all subtasks") {
  reports of;
  for (const auto& values : std::vector<std::vector<double>>{{4, 2}, {}, {9}}) {
    of.add(metric_kind::long_sum, "long sum", values);
    of.add(metric_kind::double_sum, "double sum", values);
    of.add(metric_kind::long_min, "long min", values);
    of.add(metric_kind::double_min, "double min", values);
    of.add(metric_kind::long_max, "long max", values);
    of.add(metric_kind::double_max, "double max", values);
    of.add(metric_kind::average, "average", values);
    of.add(metric_kind::counter, "counter", values);
    of.add(metric_kind::gauge, "gauge", values);
  }
  CHECK(of.merged() == std::vector<accumulator_result>{
                           {"average", "AverageAccumulator", "5.0"},
                           {"double max", "DoubleMaximum", "9.0"},
                           {"double min", "DoubleMinimum", "2.0"},
                           {"double sum", "DoubleCounter", "15.0"},
                           {"long max", "LongMaximum", "9"},
                           {"long min", "LongMinimum", "2"},
                           {"long sum", "LongCounter", "15"},
                       });
}

TEST_CASE("one that has taken nothing is null, a sum of nothing 0") {
  reports of;
  of.add(metric_kind::long_max, "most", {});
  of.add(metric_kind::average, "mean", {});
  of.add(metric_kind::long_sum, "rows", {});
  of.add(metric_kind::double_sum, "weight", {});
  CHECK(of.merged() == std::vector<accumulator_result>{{"mean", "AverageAccumulator", "null"},
                                                       {"most", "LongMaximum", "null"},
                                                       {"rows", "LongCounter", "0"},
                                                       {"weight", "DoubleCounter", "0.0"}});
}

TEST_CASE("negative values alone have a largest one") {
  reports of;
  of.add(metric_kind::long_max, "most", {});
  of.add(metric_kind::long_max, "most", {-7, -3});
  CHECK(of.merged() == std::vector<accumulator_result>{{"most", "LongMaximum", "-3"}});
}

TEST_CASE("accumulators of one name and several kinds are told, not merged") {
  reports of;
  of.add(metric_kind::long_sum, "rows", {1});
  of.add(metric_kind::average, "rows", {1});
  const auto told = of.merged();
  REQUIRE(told.size() == 1);
  CHECK(told[0].type == "none");
}
} // TEST_SUITE("scheduler/job_master/accumulators")

} // namespace headrace::scheduler
