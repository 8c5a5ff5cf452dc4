#include "libscheduler/job_master/collected_rows.hpp"

#include <doctest/doctest.h>

namespace headrace::scheduler {

using batches = std::vector<byte_string>;

namespace {
execution_attempt_id of(std::int32_t subtask, std::int32_t attempt = 0) {
  execution_attempt_id out;
  out.subtask = subtask;
  out.attempt = attempt;
  return out;
}
} // namespace

TEST_SUITE("scheduler/job_master/collected_rows") {

TEST_CASE("rows are given from an offset on, until the last subtask is done") {
  collected_rows rows(2, 1000);
  CHECK(rows.add(of(0), 1, {"a", "b"}, true).has_value());
  CHECK(rows.add(of(1), 1, {"c"}, false).has_value());

  const auto first = rows.fetch(0, 100);
  CHECK(first.batches == batches{"a", "b", "c"});
  CHECK(first.next_offset == 3);
  CHECK(!first.is_last);

  CHECK(rows.add(of(1), 2, {}, true).has_value());
  CHECK(rows.fetch(3, 100).is_last);
  CHECK(rows.is_drained());
}

TEST_CASE("an event that came before is dropped") {
  collected_rows rows(1, 1000);
  CHECK(rows.add(of(0), 1, {"a"}, false).has_value());
  CHECK(rows.add(of(0), 1, {"a"}, false).has_value());
  CHECK(rows.add(of(0), 0, {"b"}, false).has_value());

  CHECK(rows.fetch(0, 100).batches == batches{"a", "b"});
}

TEST_CASE("an answer that was lost is given again") {
  collected_rows rows(1, 1000);
  CHECK(rows.add(of(0), 1, {"a", "b"}, false).has_value());

  CHECK(rows.fetch(0, 1).batches == batches{"a"});
  CHECK(rows.fetch(0, 1).batches == batches{"a"});
  CHECK(rows.fetch(1, 1).batches == batches{"b"});
}

TEST_CASE("rows that nobody fetches are an error, not a full memory") {
  collected_rows rows(1, 3);
  CHECK(rows.add(of(0), 1, {"abc"}, false).has_value());

  const auto added = rows.add(of(0), 2, {"d"}, false);

  REQUIRE(!added.has_value());
  CHECK(added.error().code == errc::memory_exceeded);
}

TEST_CASE("what the client took, and what was dropped, is told to the attempt it came from") {
  collected_rows rows(1, 1000);
  CHECK(rows.add(of(0), 1, {"abc"}, false).has_value());
  CHECK(rows.fetch(0, 100).next_offset == 1);
  CHECK(rows.take_taken().empty());

  CHECK(rows.fetch(1, 100).batches.empty());
  CHECK(rows.take_taken() == collected_rows::taken_bytes{{of(0), 3}});
  CHECK(rows.take_taken().empty());

  CHECK(rows.add(of(0, 1), 1, {"abc"}, false).has_value());
  CHECK(rows.take_taken() == collected_rows::taken_bytes{{of(0, 1), 3}});
}

TEST_CASE("rows without a number would come twice after a restart without state") {
  collected_rows rows(2, 1000);
  CHECK(rows.add(of(0), 1, {"a"}, false).has_value());
  CHECK(rows.add(of(1), 0, {}, true).has_value());
  CHECK(!rows.has_given_at_once(0));
  CHECK(!rows.has_given_at_once(1));

  CHECK(rows.add(of(1), 0, {"b"}, false).has_value());
  CHECK(rows.has_given_at_once(1));
}

TEST_CASE("the end of the job is the end of its rows") {
  collected_rows rows(2, 100);
  CHECK(rows.add(of(0), 1, {"a"}, false).has_value());
  rows.close();

  CHECK(rows.fetch(0, 100).is_last);
}

} // TEST_SUITE("scheduler/job_master/collected_rows")

} // namespace headrace::scheduler
