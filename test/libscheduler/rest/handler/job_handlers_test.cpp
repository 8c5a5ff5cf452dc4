#include "libscheduler/rest/handler/job_handlers.hpp"

#include "test/libscheduler/rest/handler/sample_job.hpp"
#include "libscheduler/rest/handler/checkpoint_handlers.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace headrace;
using namespace headrace::scheduler;
using nlohmann::json;

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

} // TEST_SUITE("scheduler/rest/handler/job_handlers")
