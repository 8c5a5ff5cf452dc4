#include "libscheduler/rest/handler/vertex_handlers.hpp"

#include "test/libscheduler/rest/handler/sample_job.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace headrace;
using namespace headrace::scheduler;
using nlohmann::json;

TEST_SUITE("scheduler/rest/handler/vertex_handlers") {
TEST_CASE("a vertex is told subtask by subtask") {
  const auto told = json::parse(*describe_vertex(sample(), source_id, 3'000));

  CHECK(told["id"] == to_string(source_id));
  CHECK(told["name"] == "source");
  CHECK(told["parallelism"] == 2);
  CHECK(told["maxParallelism"] == 128);
  CHECK(told["now"] == 3'000);
  REQUIRE(told["subtasks"].size() == 2);
  const auto& second = told["subtasks"][1];
  CHECK(second["subtask"] == 1);
  CHECK(second["status"] == "CREATED");
  CHECK(second["start-time"] == 1'101);
  CHECK(second["end-time"] == 1'501);
  CHECK(second["duration"] == 400);
  CHECK(second["metrics"]["read-bytes"] == 100);
  CHECK(second["metrics"]["accumulated-busy-time"] == 5);
  CHECK(second["taskmanager-id"] == "(unassigned)");

  const auto running = json::parse(*describe_vertex(sample(), sink_id, 3'000));
  CHECK(running["subtasks"][0]["status"] == "RUNNING");
  CHECK(running["subtasks"][0]["taskmanager-id"] == to_string(task_executor_id{9, 9}));
  CHECK(running["subtasks"][0]["end-time"] == -1);
  CHECK(running["subtasks"][0]["duration"] == 1'900);
  CHECK(running["subtasks"][1]["attempt"] == 3);

  const auto unknown = describe_vertex(sample(), {5, 5}, 0);
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().code == errc::file_not_found);
}

TEST_CASE("a subtask is told as its vertex tells it") {
  const auto told = json::parse(*describe_subtask(sample(), sink_id, 1, 3'000));

  CHECK(told == json::parse(*describe_vertex(sample(), sink_id, 3'000))["subtasks"][1]);
  CHECK(told["attempt"] == 3);
  const auto unknown = describe_subtask(sample(), sink_id, 2, 0);
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().code == errc::file_not_found);
  CHECK(unknown.error().message == "no such subtask of the vertex: 2, it has 2");
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
  CHECK(names.size() == 28);
  CHECK(names[0]["id"] == "0.numRecordsIn");
  CHECK(names[25]["id"] == "1.rocksdb.block-cache-usage");
  CHECK(names[26]["id"] == "1.map.parsed");
  CHECK(names[27]["id"] == "1.map.lag_p99");
  CHECK_FALSE(names[0].contains("value"));

  const auto values = json::parse(*describe_vertex_metrics(
      sample(), sink_id, "1.rocksdb.block-cache-usage,0.numBytesIn,0.no-such-thing"));
  REQUIRE(values.size() == 2);
  CHECK(values[0]["id"] == "0.numBytesIn");
  CHECK(values[0]["value"] == "100");
  CHECK(values[1]["id"] == "1.rocksdb.block-cache-usage");
  CHECK(values[1]["value"] == "101");

  const auto user =
      json::parse(*describe_vertex_metrics(sample(), sink_id, "1.map.parsed,0.map.lag_p99"));
  REQUIRE(user.size() == 2);
  CHECK(user[0]["value"] == "1.5");
  CHECK(user[1]["value"] == "41");

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
} // TEST_SUITE("scheduler/rest/handler/vertex_handlers")
