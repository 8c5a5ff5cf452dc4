#include "libscheduler/resource/executor_instances.hpp"

#include <doctest/doctest.h>

#include <string>

namespace headrace::scheduler {
namespace {

actors::address process(std::uint64_t number) { return {{1, number}, "taskexecutor", 1}; }

} // namespace

TEST_SUITE("scheduler/resource/executor_instances") {

TEST_CASE("the order is that of the first registrations") {
  executor_instances known;
  known.note(process(1));
  known.note(process(2));
  known.note(process(1));

  CHECK(known.is_before(process(1), process(2)));
  CHECK_FALSE(known.is_before(process(2), process(1)));
  CHECK_FALSE(known.is_before(process(1), process(1)));
  CHECK_FALSE(known.is_before(process(3), process(1)));
  CHECK_FALSE(known.is_before(process(1), process(3)));
}

TEST_CASE("the oldest is forgotten when there are too many") {
  executor_instances known;
  for (std::uint64_t i = 0; i <= executor_instances::known_max; ++i)
    known.note(process(i));

  CHECK_FALSE(known.is_before(process(0), process(1)));
  CHECK(known.is_before(process(1), process(executor_instances::known_max)));
}

} // TEST_SUITE("scheduler/resource/executor_instances")

} // namespace headrace::scheduler
