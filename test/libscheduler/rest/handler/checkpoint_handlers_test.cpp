#include "libscheduler/rest/handler/checkpoint_handlers.hpp"

#include "libactors/message/ids_codec.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace headrace;
using namespace headrace::scheduler;
using nlohmann::json;

TEST_SUITE("scheduler/rest/handler/checkpoint_handlers") {
TEST_CASE("checkpoints are counted, summed up and listed") {
  message_builder<schema::JobDetails> job;
  auto all = job->initCheckpoints();
  all.setCompleted(12);
  all.setFailed(1);
  all.setRestored(1);
  auto history = all.initHistory(4);
  for (unsigned i = 0; i < 4; ++i) {
    history[i].setId(20 - i);
    history[i].setTriggeredMs(100 * (20 - i));
    history[i].setSubtasks(4);
  }
  history[0].setAcknowledged(2);
  for (const unsigned i : {1U, 2U}) {
    history[i].setOutcome(schema::CheckpointOutcome::COMPLETED);
    history[i].setEndedMs(100 * (20 - i) + 10 * i);
    history[i].setBytes(1'000 * i);
    history[i].setNewBytes(30 * i);
    history[i].setDirectory("/c");
  }
  history[1].setIsUnaligned(true);
  history[1].setInFlightBytes(700);
  history[1].setProcessedBytes(80);
  history[1].setAlignmentUs(9'100);
  history[3].setOutcome(schema::CheckpointOutcome::FAILED);
  history[3].setEndedMs(1'800);
  write(history[3].initFailure(), error(errc::checkpoint_expired, "late"));
  all.setNewestCompleted(history[1]);
  auto restored = all.initNewestRestored();
  restored.setId(5);
  restored.setEndedMs(77);

  const auto finished = job.finish();
  const auto told = json::parse(describe_checkpoints(finished));

  CHECK(told["counts"]["total"] == 14);
  CHECK(told["counts"]["in_progress"] == 1);
  CHECK(told["counts"]["completed"] == 12);
  CHECK(told["summary"]["state_size"]["min"] == 1'000);
  CHECK(told["summary"]["state_size"]["max"] == 2'000);
  CHECK(told["summary"]["checkpointed_size"]["max"] == 60);
  CHECK(told["history"][1]["state_size"] == 1'000);
  CHECK(told["history"][1]["checkpointed_size"] == 30);
  CHECK(told["summary"]["end_to_end_duration"]["avg"] == 15);
  CHECK(told["latest"]["completed"]["id"] == 19);
  CHECK(told["latest"]["completed"]["external_path"] == "/c");
  CHECK(told["latest"]["restored"]["restore_timestamp"] == 77);
  CHECK(told["history"][0]["status"] == "IN_PROGRESS");
  CHECK(told["history"][0]["num_acknowledged_subtasks"] == 2);
  CHECK(told["history"][0]["end_to_end_duration"] == 0);
  CHECK(told["history"][1]["checkpoint_type"] == "UNALIGNED_CHECKPOINT");
  CHECK(told["history"][1]["unaligned_checkpoint"] == true);
  CHECK(told["history"][1]["persisted_data"] == 700);
  CHECK(told["history"][1]["processed_data"] == 80);
  CHECK(told["history"][1]["alignment_buffered"] == 0);
  CHECK(told["history"][1]["alignment_duration"] == 9);
  CHECK(told["history"][2]["checkpoint_type"] == "CHECKPOINT");
  CHECK(told["history"][3]["status"] == "FAILED");
  CHECK(told["history"][3]["failure_message"] == "late [checkpoint_expired 3008]");
}

TEST_CASE("one checkpoint is told by its number, also a newest one that left the history") {
  message_builder<schema::JobDetails> job;
  auto all = job->initCheckpoints();
  auto history = all.initHistory(1);
  history[0].setId(20);
  auto savepoint = all.initNewestSavepoint();
  savepoint.setId(3);
  savepoint.setIsSavepoint(true);
  const auto details = job.finish();

  CHECK(json::parse(*describe_checkpoint(details, 20))["id"] == 20);
  CHECK(json::parse(*describe_checkpoint(details, 3))["is_savepoint"] == true);
  const auto unknown = describe_checkpoint(details, 19);
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().code == errc::file_not_found);
}
} // TEST_SUITE("scheduler/rest/handler/checkpoint_handlers")
