#include "libscheduler/checkpoint/checkpoint_statistics.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::scheduler;

TEST_SUITE("scheduler/checkpoint/checkpoint_statistics") {
TEST_CASE("checkpoints are counted by how they end") {
  checkpoint_statistics seen;

  seen.begun(5, nullptr, 2, 100);
  seen.acknowledged(5, {}, 110);
  seen.acknowledged(5, {}, 130);
  seen.completed(5, {4096, 96}, "/c/5", 140);
  seen.begun(6, nullptr, 2, 200);
  seen.acknowledged(6, {}, 210);
  seen.failed(6, error(errc::checkpoint_expired, "late"), 290);
  seen.begun(7, nullptr, 2, 300);
  seen.restored(5, false, "/c/5", 350);

  CHECK(seen.completed_count() == 1);
  CHECK(seen.failed_count() == 1);
  CHECK(seen.restored_count() == 1);
  CHECK(seen.newest_completed()->size_bytes == 4096);
  CHECK(seen.newest_completed()->new_bytes == 96);
  CHECK(seen.newest_completed()->acknowledged == 2);
  CHECK(seen.newest_completed()->newest_acknowledgement_ms == 130);
  CHECK(seen.newest_failed()->failure.code == errc::checkpoint_expired);
  CHECK(seen.newest_restored()->id == 5);
  REQUIRE(seen.history().size() == 3);
  CHECK(seen.history().front().id == 7);
  CHECK(seen.history().front().outcome == checkpoint_outcome::in_progress);
}

TEST_CASE("what comes for an ended checkpoint changes nothing") {
  checkpoint_statistics seen;
  seen.begun(1, nullptr, 1, 0);
  seen.failed(1, {}, 5);

  seen.acknowledged(1, {}, 6);
  seen.completed(1, {1, 1}, "/c/1", 7);
  seen.failed(2, {}, 8);

  CHECK(seen.completed_count() == 0);
  CHECK(seen.failed_count() == 1);
  CHECK(seen.history().front().acknowledged == 0);
}

TEST_CASE("the last some are remembered, all are counted") {
  checkpoint_statistics seen;
  for (checkpoint_id id = 1; id <= 25; ++id) {
    seen.begun(id, nullptr, 1, id * 10);
    seen.completed(id, {1, 1}, "", id * 10 + 3);
  }

  CHECK(seen.completed_count() == 25);
  CHECK(seen.history().size() == checkpoint_statistics::history_max);
  CHECK(seen.history().front().id == 25);
  CHECK(seen.history().back().id == 16);
}

TEST_CASE("an overview has times of day") {
  checkpoint_statistics seen;
  seen.begun(3, nullptr, 4, 100);
  seen.completed(3, {10, 10}, "/c/3", 150);
  seen.begun(4, nullptr, 4, 200);

  const auto told = describe(seen, 1'000'000);

  const auto view = told.view();
  REQUIRE(view->getHistory().size() == 2);
  CHECK(view->getHistory()[0].getTriggeredMs() == 1'000'200);
  CHECK(view->getHistory()[0].getEndedMs() == 0);
  CHECK(view->getNewestCompleted().getEndedMs() == 1'000'150);
  CHECK(view->getNewestCompleted().getDirectory() == "/c/3");
  CHECK(view->getNewestFailed().getId() == 0);
}
TEST_CASE("a savepoint is told as one, and is not the newest checkpoint") {
  checkpoint_statistics seen;
  const graph::savepoint_order order{"/s", true, graph::savepoint_stop::drain};
  seen.begun(1, nullptr, 1, 0);
  seen.completed(1, {10, 10}, "/c/1", 10);

  seen.begun(2, &order, 1, 20);
  seen.completed(2, {10, 10}, "/s", 30);

  CHECK(seen.newest_completed()->id == 1);
  REQUIRE(seen.newest_savepoint());
  CHECK(seen.newest_savepoint()->id == 2);
  const auto told = describe(seen, 0);
  const auto entry = told.view()->getHistory()[0];
  CHECK(entry.getIsSavepoint());
  CHECK(entry.getIsNative());
  CHECK(entry.getStop() == schema::SavepointStop::DRAIN);
  CHECK(told.view()->getNewestSavepoint().getId() == 2);
  CHECK(told.view()->getNewestCompleted().getId() == 1);
}

TEST_CASE("what its subtasks measured makes what is told of a checkpoint") {
  checkpoint_statistics seen;
  seen.begun(1, nullptr, 3, 0);
  seen.acknowledged(1, {700, 0, 10, false}, 1);
  seen.acknowledged(1, {900, 64, 5, true}, 2);
  seen.acknowledged(1, {100, 36, 0, false}, 3);

  const auto& figures = seen.history().front().figures;
  CHECK(figures.alignment_us == 900);
  CHECK(figures.in_flight_bytes == 100);
  CHECK(figures.processed_bytes == 15);
  CHECK(figures.is_unaligned);
}
} // TEST_SUITE("scheduler/checkpoint/checkpoint_statistics")
