#include "apps/run/progress.hpp"

#include <doctest/doctest.h>

namespace headrace::run {
namespace {

scheduler::job_status status_of(scheduler::job_state state, std::uint32_t restarts,
                                error failure = {}) {
  scheduler::job_status out;
  out.name = "job";
  out.state = state;
  out.restarts = restarts;
  out.failure = std::move(failure);
  return out;
}

const error full(errc::storage_full, "disk is full");
const error lost(errc::task_executor_lost, "gone");

using scheduler::job_state;

TEST_SUITE_BEGIN("apps/run/progress");

TEST_CASE("a restart is told once, with its cause") {
  restart_news news;
  CHECK_FALSE(news.next(status_of(job_state::running, 0), 0));

  const auto told = news.next(status_of(job_state::restarting, 1, full), 1);

  CHECK(told == "restart 1, because disk is full [storage_full 6002]");
  CHECK_FALSE(news.next(status_of(job_state::restarting, 1, full), 2));
  CHECK_FALSE(news.next(status_of(job_state::running, 1, full), 100'000));
}

TEST_CASE("a cause that comes again is told now and then, another one at once") {
  restart_news news;
  CHECK(news.next(status_of(job_state::running, 1, full), 0));
  const error other_path(errc::storage_full, "disk is full at another path");
  CHECK_FALSE(news.next(status_of(job_state::running, 2, other_path), 9'999));

  CHECK(news.next(status_of(job_state::running, 3, lost), 9'999));
  CHECK(news.next(status_of(job_state::running, 9, lost), 19'999) ==
        "restart 9, because gone [task_executor_lost 3011]");
}

TEST_CASE("progress counts what there is, and says what is waited for") {
  auto status = status_of(job_state::running, 2);
  status.started_ms = 1000;
  status.completed_checkpoints = 1;
  status.waiting_for = "2 more slots (has 2 of 4)";
  status.vertices.resize(3);
  status.vertices[0].is_source = true;
  status.vertices[0].records_in = 7;
  status.vertices[0].records_out = 30; // of what is chained to the source
  status.vertices[1].records_in = 30;
  status.vertices[2].is_source = true;
  status.vertices[2].records_in = 5;

  CHECK(describe_progress(status, 4200) ==
        "running 3.2 s, 12 records read, 1 checkpoint, 2 restarts, waiting for 2 more slots (has "
        "2 of 4)");
}

TEST_CASE("how to go on is told from what there is") {
  auto ended = status_of(job_state::failed, 0, full);
  CHECK(describe_way_on(ended, "") ==
        "job: no checkpoint was complete, so that it can only begin anew");
  CHECK(describe_way_on(ended, "/savepoint-1") == "job: could not start from /savepoint-1");
  ended.restored_checkpoint = 7;
  CHECK(describe_way_on(ended, "/savepoint-1") ==
        "job: no checkpoint was complete; it begins again with --from-savepoint /savepoint-1");
  ended.completed_checkpoints = 4;
  CHECK(describe_way_on(ended, "") ==
        "job: its checkpoints were not kept, as execution.checkpointing.dir would; it begins anew");
  CHECK(describe_way_on(ended, "/savepoint-1") ==
        "job: its checkpoints were not kept, as execution.checkpointing.dir would; it begins again "
        "with --from-savepoint /savepoint-1");
  ended.last_checkpoint_path = "/chk-3";
  CHECK(describe_way_on(ended, "/savepoint-1") ==
        "job: goes on from its last checkpoint with --from-savepoint /chk-3");
  ended.failure = {errc::job_failed,
                   "job failed",
                   {errc::corrupt_snapshot, "corrupt snapshot: block 3, in /chk-3/a"}};
  CHECK(describe_way_on(ended, "") ==
        "job: its last checkpoint is corrupt, /chk-3; goes on from an older one, where some are "
        "retained beside it, or from a savepoint with --from-savepoint");
}

TEST_CASE("what was restored and is not whole is not what to begin again with") {
  auto ended = status_of(job_state::failed, 0, full);
  ended.restored_checkpoint = 7;
  ended.failure = {errc::job_failed,
                   "job failed",
                   {errc::corrupt_snapshot, "a file of the checkpoint is gone: /savepoint-1/a"}};
  CHECK(describe_way_on(ended, "/savepoint-1") ==
        "job: could not start from /savepoint-1, which is not whole; begins from another "
        "checkpoint or savepoint with --from-savepoint");
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::run
