#include "libscheduler/slot/slot_pool.hpp"

#include "test/libscheduler/sample_graph.hpp"
#include "libscheduler/slot/slot_sharing.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace headrace::scheduler {

namespace {

task_slot slot(std::uint64_t allocation, std::uint64_t executor) {
  return {{1, allocation}, {2, executor}, {{3, executor}, "taskexecutor", 1}};
}
std::int32_t count_on(const std::vector<slot_assignment>& assigned, std::uint64_t executor) {
  return static_cast<std::int32_t>(
      std::count_if(assigned.begin(), assigned.end(), [&](const slot_assignment& one) {
        return one.slot.executor == task_executor_id{2, executor};
      }));
}

} // namespace

TEST_SUITE("scheduler/slot/slot_sharing") {

TEST_CASE("a slot holds one subtask of each vertex of its group") {
  testing::sample_graph sample;
  const auto source = sample.add("source", 2);
  const auto sum = sample.add("sum", 3);
  const auto sink = sample.add("sink", 1, "apart");
  auto graph = execution_graph::build(sample.share());

  const slot_sharing sharing(*graph);

  CHECK(sharing.slot_count() == 4);
  CHECK(sharing.tasks_in(0) ==
        std::vector<task_index>{graph->task_at(source, 0), graph->task_at(sum, 0)});
  CHECK(sharing.tasks_in(2) == std::vector<task_index>{graph->task_at(sum, 2)});
  CHECK(sharing.slot_of(graph->task_at(sink, 0)) == 3);
}

} // TEST_SUITE("scheduler/slot/slot_sharing")

TEST_SUITE("scheduler/slot/slot_pool") {

TEST_CASE("wanted slots are assigned when there is one for each") {
  slot_pool pool({});
  pool.want({0, 1}, 0);
  CHECK(pool.required() == 2);
  CHECK(pool.waiting_for() == "2 more slots (has 0 of 2)");

  CHECK(pool.offer({slot(1, 1)}, 0).size() == 1);
  CHECK(pool.assign().empty());
  CHECK(pool.waiting_for() == "1 more slot (has 1 of 2)");
  CHECK(pool.offer({slot(2, 1)}, 0).size() == 1);

  CHECK(pool.assign().size() == 2);
  CHECK(pool.waiting_for().empty());
  CHECK(pool.required() == 2);
}

TEST_CASE("slots are refused where none is needed; one too many goes back after its idle time") {
  slot_pool pool({});
  CHECK(pool.offer({slot(1, 1)}, 0).empty());
  pool.want({0}, 0);

  CHECK(pool.offer({slot(1, 1), slot(2, 1)}, 0) == std::vector<allocation_id>{{1, 1}, {1, 2}});
  CHECK(pool.offer({slot(1, 1)}, 0) == std::vector<allocation_id>{{1, 1}}); // a known one

  CHECK(pool.assign().size() == 1);
  CHECK(pool.take_idle(9'999).empty());
  CHECK(pool.take_idle(10'000).size() == 1);
  CHECK(pool.held() == 1);
}

TEST_CASE("slots are spread over task executors") {
  slot_pool pool({});
  pool.want({0, 1, 2, 3, 4, 5}, 0);
  pool.offer({slot(1, 1), slot(2, 1), slot(3, 1), slot(4, 2), slot(5, 2), slot(6, 2)}, 0);
  CHECK(pool.assign().size() == 6);
  pool.release({0, 1, 2, 3, 4, 5}, 0);
  pool.want({6, 7, 8, 9}, 0);

  const auto assigned = pool.assign();

  CHECK(count_on(assigned, 1) == 2);
  CHECK(count_on(assigned, 2) == 2);
}

TEST_CASE("a shared slot that starts again keeps its slot while it is there") {
  slot_pool pool({});
  pool.want({0, 1}, 0);
  pool.offer({slot(1, 1), slot(2, 2)}, 0);
  const auto before = pool.assign();
  pool.want({0, 1}, 5);
  CHECK(pool.assign() == before);

  CHECK(pool.lose(before[0].slot.executor) == std::vector<std::int32_t>{0});
  pool.want({0, 1}, 9);
  CHECK(pool.assign().empty());
  pool.offer({slot(3, 2)}, 9);
  const auto after = pool.assign();

  REQUIRE(after.size() == 2);
  CHECK(after[0].slot == slot(3, 2));
  CHECK(after[1] == before[1]);
}

TEST_CASE("a shared slot goes back to the task executor that it was on") {
  slot_pool pool({});
  pool.want({0, 1, 2, 3}, 0);
  pool.offer({slot(1, 1), slot(2, 1), slot(3, 2), slot(4, 2)}, 0);
  const auto before = pool.assign();
  REQUIRE(before.size() == 4);
  const auto gone = before[1].slot.executor;
  CHECK(pool.lose(gone).size() == 2);
  pool.want({0, 1, 2, 3}, 5);

  SUBCASE("which came back") {
    pool.offer({slot(11, gone.low), slot(12, gone.low)}, 5);
    const auto after = pool.assign();

    REQUIRE(after.size() == 4);
    for (std::size_t i = 0; i < after.size(); ++i)
      CHECK(after[i].slot.executor == before[i].slot.executor);
  }
  SUBCASE("which came back with one slot less") {
    pool.offer({slot(11, gone.low), slot(12, 3)}, 5);
    const auto after = pool.assign();

    REQUIRE(after.size() == 4);
    CHECK(count_on(after, gone.low) == 1);
    CHECK(count_on(after, 3) == 1);
  }
  SUBCASE("but does not wait for it") {
    pool.offer({slot(11, 3), slot(12, 3)}, 5);
    CHECK(count_on(pool.assign(), 3) == 2);
  }
}

TEST_CASE("a request that is too old fails and says what was waited for") {
  slot_pool pool({1000, 50});
  pool.want({0, 1, 2}, 100);
  pool.offer({slot(1, 1)}, 100);
  pool.note_available(2);
  CHECK(pool.next_deadline_ms() == 1100);
  CHECK(!pool.expire(1099).has_value());

  const auto late = pool.expire(1100);

  REQUIRE(late.has_value());
  CHECK(late->code == errc::not_enough_slots);
  CHECK(late->message.ends_with("required 3, available 2, after 1000 ms"));
  CHECK(pool.required() == 0);
}

TEST_CASE("a slot without tasks is given back after its idle time") {
  slot_pool pool({1000, 50});
  pool.want({0}, 0);
  pool.offer({slot(1, 1)}, 0);
  CHECK(pool.assign().size() == 1);
  pool.release({0}, 100);
  CHECK(pool.required() == 0);
  CHECK(pool.next_deadline_ms() == 150);

  CHECK(pool.take_idle(149).empty());
  CHECK(pool.take_idle(150) == std::vector<task_slot>{slot(1, 1)});
  CHECK(pool.held() == 0);
}

} // TEST_SUITE("scheduler/slot/slot_pool")

} // namespace headrace::scheduler
