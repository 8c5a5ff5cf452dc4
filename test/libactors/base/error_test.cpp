#include "libactors/base/error.hpp"

#include "libactors/base/data_errc.hpp"
#include "libactors/base/ids.hpp"

#include <doctest/doctest.h>

using namespace headrace;

TEST_SUITE("actors/base/error") {

TEST_CASE("an orderly end is never printed as a cause") {
  CHECK(to_string(error(errc::task_executor_lost, "it left", error())) ==
        "it left [task_executor_lost 3011]");
  CHECK(to_string(error()) == "it ended in order");
}

TEST_CASE("an error is written with its causes, indented by depth") {
  const error disk(errc::storage_full, "disk is full");
  const error checkpoint(errc::checkpoint_declined, "checkpoint declined: 7", disk);
  const error job(errc::job_failed, "job failed", checkpoint);

  CHECK(to_string(job) == "job failed [job_failed 3010]\n"
                          "  caused by: checkpoint declined: 7 [checkpoint_declined 3007]\n"
                          "    caused by: disk is full [storage_full 6002]");
  CHECK(job.has(errc::storage_full));
  CHECK(!job.has(errc::timed_out));
}

TEST_CASE("a number without a name is written as unknown") {
  CHECK(name_of(static_cast<errc>(4242)) == "unknown");
  CHECK(name_of(errc::none) == "none");
  for (const auto code : data_errc::all)
    CHECK(name_of(code) != "unknown");
}

TEST_CASE("ids are read as they are written, and nothing else is") {
  const job_id id{0x0123456789abcdefULL, 0xfedcba9876543210ULL};

  CHECK(to_string(id) == "0123456789abcdeffedcba9876543210");
  REQUIRE(parse_id<job_tag>(to_string(id)));
  CHECK(*parse_id<job_tag>("0123456789ABCDEFfedcba9876543210") == id);
  CHECK(parse_id<job_tag>("0123").error().code == errc::bad_usage);
  CHECK(parse_id<job_tag>("g123456789abcdeffedcba9876543210").error().code == errc::bad_usage);
  CHECK(to_string(execution_attempt_id{{0, 1}, 2, 3}) == "00000000000000000000000000000001_2_3");
  CHECK(to_string(execution_attempt_id{{0, 1}, 2, 3, 4}) ==
        "00000000000000000000000000000001_2_4.3");
}

} // TEST_SUITE("actors/base/error")
