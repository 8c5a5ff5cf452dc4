#include "libscheduler/resource/slot_manager.hpp"

#include <doctest/doctest.h>

#include <map>

namespace headrace::scheduler {

namespace {

std::vector<reported_slot> free_slots(std::int32_t count) {
  std::vector<reported_slot> slots;
  for (std::int32_t index = 0; index < count; ++index)
    slots.push_back({index, {}, {}});
  return slots;
}
constexpr task_executor_id first{1, 1};
constexpr task_executor_id second{1, 2};
constexpr job_id job{5, 5};

struct fixture {
  std::unique_ptr<random_source> random = make_seeded_random(1);
  slot_manager slots{*random};
};

} // namespace

TEST_SUITE("scheduler/resource/slot_manager") {

TEST_CASE("a job gets what it declares, spread over task executors") {
  fixture f;
  f.slots.add_executor(first, free_slots(4));
  f.slots.add_executor(second, free_slots(4));
  f.slots.declare(job, 4);

  const auto made = f.slots.decide();

  std::map<task_executor_id, int> by_executor;
  for (const auto& grant : made.grants)
    ++by_executor[grant.executor];
  CHECK(by_executor[first] == 2);
  CHECK(by_executor[second] == 2);
  CHECK(made.shortages.empty());
  CHECK(f.slots.decide().grants.empty());
}

TEST_CASE("a shortage is told once, with what the job has or could get") {
  fixture f;
  f.slots.add_executor(first, free_slots(1));
  f.slots.declare(job, 3);

  const auto made = f.slots.decide();
  CHECK(made.grants.size() == 1);
  CHECK(made.shortages == std::vector<slot_shortage>{{job, 3, 1}});
  CHECK(made.missing == 2);
  CHECK(f.slots.decide().shortages.empty());

  f.slots.add_executor(second, free_slots(1));
  CHECK(f.slots.decide().shortages == std::vector<slot_shortage>{{job, 3, 2}});
}

TEST_CASE("a slot that its executor refused comes back with the next report") {
  fixture f;
  f.slots.add_executor(first, free_slots(1));
  f.slots.declare(job, 1);
  const auto grant = f.slots.decide().grants.at(0);
  f.slots.update_executor(first, free_slots(1)); // sent before the grant arrived
  CHECK(f.slots.decide().grants.empty());

  f.slots.grant_answered(first, grant.allocation, false);
  CHECK(f.slots.decide().grants.empty());

  f.slots.update_executor(first, free_slots(1));
  CHECK(f.slots.decide().grants.size() == 1);
}

TEST_CASE("slots of a lost executor are granted elsewhere") {
  fixture f;
  f.slots.add_executor(first, free_slots(1));
  f.slots.declare(job, 1);
  const auto grant = f.slots.decide().grants.at(0);
  f.slots.grant_answered(first, grant.allocation, true);

  f.slots.remove_executor(first);
  f.slots.add_executor(second, free_slots(1));

  const auto made = f.slots.decide();
  REQUIRE(made.grants.size() == 1);
  CHECK(made.grants[0].executor == second);
}

TEST_CASE("a freed slot goes to the job that waits") {
  fixture f;
  f.slots.add_executor(first, free_slots(1));
  f.slots.declare(job, 1);
  const auto grant = f.slots.decide().grants.at(0);
  f.slots.grant_answered(first, grant.allocation, true);
  const job_id other{6, 6};
  f.slots.declare(other, 1);
  CHECK(f.slots.decide().grants.empty());

  f.slots.remove_job(job);
  f.slots.slot_freed(first, grant.index);

  const auto made = f.slots.decide();
  REQUIRE(made.grants.size() == 1);
  CHECK(made.grants[0].job == other);
}

} // TEST_SUITE("scheduler/resource/slot_manager")

} // namespace headrace::scheduler
