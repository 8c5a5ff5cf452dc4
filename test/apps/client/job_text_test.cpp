#include "apps/client/job_text.hpp"

#include <doctest/doctest.h>

namespace headrace::client {
namespace {

scheduler::job_status some_job() {
  scheduler::job_status job;
  job.id = {0xab, 0xcd};
  job.name = "words \"here\"";
  job.state = scheduler::job_state::running;
  job.started_ms = 1'000;
  job.restarts = 2;
  job.completed_checkpoints = 7;
  job.last_checkpoint = 7;
  job.last_checkpoint_path = "/ha/chk-7";
  job.failure = error(errc::task_executor_lost, "task executor ended");
  scheduler::vertex_status vertex;
  vertex.name = "count";
  vertex.parallelism = 4;
  vertex.tasks_by_state = {0, 0, 0, 0, 3, 0, 0, 0, 1};
  vertex.records_in = 12;
  vertex.busy_share = 0.256F;
  vertex.back_pressured_share = 0.7F;
  job.vertices.push_back(vertex);
  return job;
}

} // namespace

TEST_SUITE("client/job_text") {
TEST_CASE("jobs are a line each under a heading, with their ids whole") {
  CHECK(jobs_as_table({}, 0) == "no jobs\n");
  const auto table = jobs_as_table({some_job()}, 3'500);
  CHECK(table ==
        "JOB                               STATE    DURATION  RESTARTS  CHECKPOINTS  NAME\n"
        "00000000000000ab00000000000000cd  RUNNING  2.5 s     2         7            words "
        "\"here\"\n");
}

TEST_CASE("bytes that are no UTF-8 make JSON all the same") {
  auto job = some_job();
  job.name = "caf\xe9";
  job.failure = error(errc::storage_failed, "cannot open: /data/\xff");
  job.last_checkpoint_path = "/ha/\xc3";

  for (const auto& text : {job_as_json(job), jobs_as_json({job})}) {
    CHECK(text.find("caf\uFFFD\"") != std::string::npos);
    CHECK(text.find("/data/\uFFFD") != std::string::npos);
    CHECK(text.find("/ha/\uFFFD") != std::string::npos);
  }
}

TEST_CASE("a job's text names what went wrong and how its tasks are") {
  const auto text = job_as_text(some_job(), 3'661'000 + 1'000);
  CHECK(text.find("duration         1 h 01 min\n") != std::string::npos);
  CHECK(text.find("last checkpoint  7 in /ha/chk-7\n") != std::string::npos);
  CHECK(text.find("newest failure: task executor ended [task_executor_lost 3011]") !=
        std::string::npos);
  CHECK(text.find("VERTEX  PARALLELISM  IN  OUT  LATE  SKIPPED  BUSY  BACK PRESSURED  IDLE  TASKS\n"
                  "count   4            12  0    0     0        26 %  70 %            0 %   "
                  "3 running, 1 failed\n") != std::string::npos);
}

TEST_CASE("as JSON a job is one line that programs can read") {
  const auto text = job_as_json(some_job());
  CHECK(text.find("\"name\":\"words \\\"here\\\"\"") != std::string::npos);
  CHECK(text.find("\"endedMs\":null") != std::string::npos);
  CHECK(text.find("\"tasks\":{\"RUNNING\":3,\"FAILED\":1}") != std::string::npos);
  CHECK(text.find("\"busy\":0.256,\"backPressured\":0.7,\"idle\":0.0") != std::string::npos);
  CHECK(text.find('\n') == text.size() - 1);
  CHECK(jobs_as_json({}) == "[]\n");
}
} // TEST_SUITE("client/job_text")

} // namespace headrace::client
