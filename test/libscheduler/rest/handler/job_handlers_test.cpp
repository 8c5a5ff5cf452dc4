#include "libscheduler/rest/handler/job_handlers.hpp"

#include "libscheduler/rest/handler/checkpoint_handlers.hpp"
#include "libactors/message/ids_codec.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace headrace;
using namespace headrace::scheduler;
using nlohmann::json;

namespace {

constexpr vertex_id source_id{1, 1};
constexpr vertex_id sink_id{1, 2};

void fill_vertex(schema::VertexStatus::Builder out, const vertex_id& id, const char* name,
                 std::vector<std::uint32_t> by_state) {
  write(out.initId(), id);
  out.setName(name);
  out.setParallelism(2);
  auto states = out.initTasksByState(static_cast<unsigned>(by_state.size()));
  for (unsigned i = 0; i < states.size(); ++i)
    states.set(i, by_state[i]);
  out.setRecordsIn(10);
  out.setRecordsOut(20);
}

/// A job of two vertices: the source has finished, the sink runs under back pressure.
message<schema::JobDetails> sample() {
  message_builder<schema::JobDetails> job;
  auto status = job->initStatus();
  write(status.initJob(), job_id{7, 8});
  status.setName("caf\xc3\xa9 \xff");
  status.setState(schema::JobState::RUNNING);
  status.setStartedMs(1'000);
  status.setRestarts(3);
  auto vertices = status.initVertices(2);
  fill_vertex(vertices[0], source_id, "source", {0, 0, 0, 0, 0, 2, 0, 0, 0});
  fill_vertex(vertices[1], sink_id, "sink", {0, 0, 0, 0, 2, 0, 0, 0, 0});
  auto times = job->initStateTimesMs(10);
  times.set(0, 1'000);
  times.set(1, 1'200);
  auto details = job->initVertices(2);
  for (unsigned vertex = 0; vertex < 2; ++vertex) {
    details[vertex].setMaxParallelism(128);
    details[vertex].setSlotSharingGroup("default");
    auto subtasks = details[vertex].initSubtasks(2);
    for (unsigned i = 0; i < 2; ++i) {
      subtasks[i].setStartedMs(1'100 + i);
      subtasks[i].setEndedMs(vertex == 0 ? 1'500 + i : 0);
      auto metrics = subtasks[i].initMetrics();
      metrics.setBytesIn(100);
      metrics.setBusyUs(5'000);
      metrics.setIdleUs(7'000);
      auto state = metrics.initState(1);
      state[0].setName("rocksdb.block-cache-usage");
      state[0].setValue(100 * vertex + i);
    }
  }
  auto input = details[1].initInputs(1)[0];
  write(input.initVertex(), source_id);
  input.setPartitioner("HASH");
  details[1].getSubtasks()[1].setBackPressuredShare(0.75F);
  details[1].getSubtasks()[1].setBusyShare(0.25F);
  details[1].getSubtasks()[0].setIdleShare(1.0F);
  details[1].getSubtasks()[1].setAttempt(3);

  auto past = job->initExceptions(2);
  past[0].setTimestampMs(1'300);
  write(past[0].initFailure(), error(errc::user_function_failed, "boom"));
  past[0].setTask("sink (1/2)");
  write(past[0].initTaskExecutor(), task_executor_id{9, 9});
  past[1].setTimestampMs(1'200);
  write(past[1].initFailure(), error(errc::not_enough_slots, "no slots"));
  job->setExceptionsTruncated(true);
  return job.finish();
}

} // namespace

TEST_SUITE("scheduler/rest/handler/job_handlers") {
TEST_CASE("a job is described with its vertices and its plan") {
  const auto told = json::parse(describe_job(sample(), 3'000));

  CHECK(told["jid"] == "00000000000000070000000000000008");
  CHECK(told["state"] == "RUNNING");
  CHECK(told["start-time"] == 1'000);
  CHECK(told["end-time"] == -1);
  CHECK(told["duration"] == 2'000);
  CHECK(told["timestamps"]["CREATED"] == 1'000);
  CHECK(told["timestamps"]["RUNNING"] == 1'200);
  CHECK(told["timestamps"]["FINISHED"] == 0);
  CHECK(told["restarts"] == 3);
  CHECK(told["status-counts"]["RUNNING"] == 1);
  CHECK(told["status-counts"]["FINISHED"] == 1);
  const auto& source = told["vertices"][0];
  CHECK(source["status"] == "FINISHED");
  CHECK(source["start-time"] == 1'100);
  CHECK(source["end-time"] == 1'501);
  CHECK(source["duration"] == 401);
  CHECK(source["tasks"]["FINISHED"] == 2);
  CHECK(source["metrics"]["read-bytes"] == 200);
  CHECK(source["metrics"]["write-records"] == 20);
  CHECK(source["metrics"]["accumulated-busy-time"] == 10);
  const auto& sink = told["vertices"][1];
  CHECK(sink["status"] == "RUNNING");
  CHECK(sink["end-time"] == -1);
  CHECK(sink["duration"] == 1'900);
  const auto& nodes = told["plan"]["nodes"];
  CHECK(nodes[1]["inputs"][0]["id"] == to_string(source_id));
  CHECK(nodes[1]["inputs"][0]["ship_strategy"] == "HASH");
}

TEST_CASE("lists of jobs have names, states and tasks") {
  message_builder<schema::JobList> list;
  const auto job = sample();
  list->initJobs(1).setWithCaveats(0, job.view()->getStatus());
  const auto jobs = list.finish();

  const auto ids = json::parse(describe_jobs(jobs));
  const auto overview = json::parse(describe_jobs_overview(jobs, 3'000));

  CHECK(ids["jobs"][0]["id"] == "00000000000000070000000000000008");
  CHECK(ids["jobs"][0]["status"] == "RUNNING");
  CHECK(overview["jobs"][0]["jid"] == "00000000000000070000000000000008");
  CHECK(overview["jobs"][0]["name"] == "caf\xc3\xa9 \xef\xbf\xbd");
  CHECK(overview["jobs"][0]["tasks"]["total"] == 4);
  CHECK(overview["jobs"][0]["tasks"]["running"] == 2);
  CHECK(overview["jobs"][0]["tasks"]["finished"] == 2);
}

TEST_CASE("exceptions are told newest first, with where they were") {
  const auto told = json::parse(describe_exceptions(sample()))["exceptionHistory"];

  CHECK(told["truncated"] == true);
  REQUIRE(told["entries"].size() == 2);
  CHECK(told["entries"][0]["exceptionName"] == "user_function_failed");
  CHECK(told["entries"][0]["stacktrace"] == "boom [user_function_failed 4001]");
  CHECK(told["entries"][0]["timestamp"] == 1'300);
  CHECK(told["entries"][0]["taskName"] == "sink (1/2)");
  CHECK(told["entries"][0]["taskManagerId"] == to_string(task_executor_id{9, 9}));
  CHECK_FALSE(told["entries"][1].contains("taskName"));
}

TEST_CASE("back pressure is told a subtask, and the worst is the vertex's") {
  const auto told = json::parse(*describe_back_pressure(sample(), sink_id, 3'000));

  CHECK(told["status"] == "ok");
  CHECK(told["backpressureLevel"] == "high");
  CHECK(told["end-timestamp"] == 3'000);
  CHECK(told["subtasks"][0]["backpressureLevel"] == "ok");
  CHECK(told["subtasks"][0]["idleRatio"] == 1.0);
  CHECK(told["subtasks"][1]["backpressure-level"] == "high");
  CHECK(told["subtasks"][1]["ratio"] == 0.75);
  CHECK(told["subtasks"][1]["busyRatio"] == 0.25);
  CHECK(told["subtasks"][1]["attempt-number"] == 3);

  const auto unknown = describe_back_pressure(sample(), {5, 5}, 0);
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().code == errc::file_not_found);
}

TEST_CASE("metrics of a vertex are listed, or told by name") {
  const auto names = json::parse(*describe_vertex_metrics(sample(), sink_id, std::nullopt));
  CHECK(names.size() == 24);
  CHECK(names[0]["id"] == "0.numRecordsIn");
  CHECK(names[23]["id"] == "1.rocksdb.block-cache-usage");
  CHECK_FALSE(names[0].contains("value"));

  const auto values = json::parse(*describe_vertex_metrics(
      sample(), sink_id, "1.rocksdb.block-cache-usage,0.numBytesIn,0.no-such-thing"));
  REQUIRE(values.size() == 2);
  CHECK(values[0]["id"] == "0.numBytesIn");
  CHECK(values[0]["value"] == "100");
  CHECK(values[1]["id"] == "1.rocksdb.block-cache-usage");
  CHECK(values[1]["value"] == "101");

  CHECK(json::parse(*describe_vertex_metrics(sample(), sink_id, "")).empty());
  const auto unknown = describe_vertex_metrics(sample(), {5, 5}, std::nullopt);
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().code == errc::file_not_found);
}

TEST_CASE("the levels of back pressure are Flink's") {
  struct row {
    double share;
    const char* level;
  };
  for (const row& each : {row{0, "ok"}, row{0.1, "ok"}, row{0.11, "low"}, row{0.5, "low"},
                          row{0.51, "high"}, row{1, "high"}})
    CHECK(back_pressure_level(each.share) == each.level);
}

TEST_CASE("a job of which little is known is described all the same") {
  const auto nothing = message_builder<schema::JobDetails>().finish();

  const auto job = json::parse(describe_job(nothing, 5));
  const auto checkpoints = json::parse(describe_checkpoints(nothing));

  CHECK(job["vertices"].empty());
  CHECK(job["duration"] == -1);
  CHECK(checkpoints["counts"]["total"] == 0);
  CHECK(checkpoints["summary"]["state_size"]["max"] == 0);
  CHECK(checkpoints["latest"]["completed"].is_null());
}

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

  const auto told = json::parse(describe_checkpoints(job.finish()));

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
} // TEST_SUITE("scheduler/rest/handler/job_handlers")
