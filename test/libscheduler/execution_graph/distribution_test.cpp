#include "libscheduler/execution_graph/distribution.hpp"

#include <doctest/doctest.h>

namespace headrace::scheduler {

TEST_SUITE("scheduler/execution_graph/distribution") {

TEST_CASE("in an all-to-all edge everyone meets everyone, in order") {
  const distribution edge{distribution_pattern::all_to_all, 3, 2};

  CHECK(edge.producers_of(1) == subtask_range{0, 3});
  CHECK(edge.consumers_of(2) == subtask_range{0, 2});
  CHECK(edge.subpartition_of(1) == 1);
}

TEST_CASE("a forward edge pairs equal subtasks") {
  const distribution edge{pattern_of(graph::partitioner_kind::forward), 4, 4};

  for (std::int32_t i = 0; i < 4; ++i) {
    CHECK(edge.producers_of(i) == subtask_range{i, i + 1});
    CHECK(edge.consumers_of(i) == subtask_range{i, i + 1});
    CHECK(edge.subpartition_of(i) == 0);
  }
}

TEST_CASE("a rescale edge deals neighbours out as Flink does") {
  const distribution narrowing{distribution_pattern::pointwise, 5, 2};
  CHECK(narrowing.producers_of(0) == subtask_range{0, 2});
  CHECK(narrowing.producers_of(1) == subtask_range{2, 5});

  const distribution widening{distribution_pattern::pointwise, 2, 5};
  CHECK(widening.consumers_of(0) == subtask_range{0, 3});
  CHECK(widening.consumers_of(1) == subtask_range{3, 5});
  CHECK(widening.subpartition_of(2) == 2);
  CHECK(widening.subpartition_of(3) == 0);
}

TEST_CASE("both sides of a pointwise edge agree, whatever the widths") {
  for (std::int32_t producers = 1; producers <= 12; ++producers) {
    for (std::int32_t consumers = 1; consumers <= 12; ++consumers) {
      const distribution edge{distribution_pattern::pointwise, producers, consumers};
      for (std::int32_t p = 0; p < producers; ++p) {
        const subtask_range to = edge.consumers_of(p);
        CHECK(to.size() >= 1);
        for (std::int32_t c = 0; c < consumers; ++c) {
          const subtask_range from = edge.producers_of(c);
          const bool is_seen_by_producer = to.first <= c && c < to.last;
          const bool is_seen_by_consumer = from.first <= p && p < from.last;
          CHECK(is_seen_by_producer == is_seen_by_consumer);
          if (is_seen_by_consumer) {
            CHECK(edge.subpartition_of(c) >= 0);
            CHECK(edge.subpartition_of(c) < to.size());
          }
        }
      }
    }
  }
}

} // TEST_SUITE("scheduler/execution_graph/distribution")

} // namespace headrace::scheduler
