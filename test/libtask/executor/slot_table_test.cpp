#include "libtask/executor/slot_table.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::task;

namespace {
const allocation_id first{1, 1};
const allocation_id second{1, 2};
const job_id job{7, 1};
const job_id other_job{7, 2};
} // namespace

TEST_SUITE("task/executor/slot_table") {
TEST_CASE("a slot is given to one allocation at a time") {
  slot_table table(2);
  CHECK(table.allocate(0, first, job));

  CHECK(table.allocate(0, first, job)); // the same again
  const auto taken = table.allocate(0, second, other_job);

  REQUIRE_FALSE(taken);
  CHECK(taken.error().code == errc::not_enough_slots);
  CHECK_FALSE(table.allocate(1, first, job));
  CHECK(table.allocate(1, second, other_job));
  CHECK_FALSE(table.allocate(2, {1, 3}, job));
  CHECK(table.of_job(job).size() == 1);
}

TEST_CASE("a task needs a slot of its job") {
  slot_table table(1);
  CHECK_FALSE(table.add_task(first, job));
  CHECK(table.allocate(0, first, job));

  CHECK_FALSE(table.add_task(first, other_job));
  CHECK(table.add_task(first, job));
}

TEST_CASE("a slot with tasks becomes free when the last one has ended") {
  slot_table table(1);
  CHECK(table.allocate(0, first, job));
  table.activate(first);
  CHECK(table.add_task(first, job));
  CHECK(table.add_task(first, job));

  CHECK_FALSE(table.free(first));
  CHECK_FALSE(table.add_task(first, job));
  CHECK_FALSE(table.allocate(0, second, other_job));
  CHECK_FALSE(table.remove_task(first));
  CHECK(table.remove_task(first) == 0);

  CHECK(table.allocate(0, second, other_job));
}

TEST_CASE("freeing what is not there succeeds") {
  slot_table table(1);
  CHECK(table.free(first));
}
} // TEST_SUITE("task/executor/slot_table")
