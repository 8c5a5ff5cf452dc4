#include "libscheduler/failover/unrecoverable.hpp"

#include "libactors/base/data_errc.hpp"
#include "libactors/base/file_failure.hpp"

#include <doctest/doctest.h>

namespace headrace::scheduler {
namespace {

TEST_SUITE_BEGIN("scheduler/failover/unrecoverable");

TEST_CASE("what a restart cannot heal is found at any depth of the causes") {
  CHECK(is_unrecoverable({errc::input_not_found, "input not found: /x"}));
  CHECK(is_unrecoverable({errc::input_unreadable, "not a regular file: /x"}));
  CHECK(is_unrecoverable({errc::output_unusable, "standard output is closed"}));
  CHECK(is_unrecoverable({errc::malformed_record, "line 3"}));
  for (const auto code : data_errc::all)
    CHECK(is_unrecoverable({code, "/ failed"}));
  CHECK(is_unrecoverable({errc::corrupt_snapshot, "checksum does not fit: /x"}));
  CHECK(is_unrecoverable({errc::job_failed, "task failed",
                          error(errc::user_function_failed, "open",
                                error(errc::incompatible_state, "state clicks is another"))}));
}

TEST_CASE("what a restart may heal is left to the restart strategy") {
  CHECK_FALSE(is_unrecoverable({errc::user_function_failed, "it threw"}));
  CHECK_FALSE(is_unrecoverable({errc::storage_full, "disk is full"}));
  CHECK_FALSE(is_unrecoverable({errc::storage_failed, "input cannot be read now: /x",
                                error(errc::storage_failed, "Too many open files")}));
  CHECK_FALSE(is_unrecoverable({errc::storage_failed, "a file of the checkpoint is missing: /x",
                                error(errc::file_not_found, "cannot open: /x")}));
  CHECK_FALSE(is_unrecoverable({file_unusable, "cannot open: /x, Permission denied"}));
  CHECK_FALSE(is_unrecoverable({errc::task_executor_lost, "gone"}));
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::scheduler
