#include "libscheduler/rest/rest_endpoint.hpp"

#include "test/libscheduler/testing_cluster.hpp"
#include "libactors/supervision/introspection_endpoint.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace headrace;
using namespace headrace::scheduler;
using nlohmann::json;
using testing::source_to_sink;
using testing::testing_cluster;

namespace {

/// A cluster with its REST endpoint, asked by mail instead of HTTP.
struct rest_cluster : testing_cluster {
  rest_cluster() {
    actors::spawn_introspection(*node);
    rest_settings settings;
    settings.cluster = {dispatcher, resource_manager, blob_server, "10.0.0.1", 6123};
    settings.configuration = {{"rest.port", "8081"}, {"security.shared-secret", "told to nobody"}};
    settings.mail_name = [](std::string_view kind, std::uint32_t) { return std::string(kind); };
    rest = node->spawn(
        std::make_unique<rest_endpoint>(settings, nullptr, nullptr),
        {"rest", "rest_endpoint", actors::placement::control, actors::supervision::notify, true});
  }

  actors::http_response call(const char* method, const std::string& target,
                             const std::string& body = {}) {
    std::optional<actors::http_response> answer;
    auto request = actors::read_target(method, target);
    REQUIRE(request.has_value());
    request->body = body;
    node->find(rest).send(std::make_unique<actors::http_mail>(
        std::move(*request),
        actors::http_responder([&](actors::http_response said) { answer = std::move(said); })));
    REQUIRE(run_until([&] { return answer.has_value(); }));
    return *answer;
  }
  json get(const std::string& target) {
    const auto answer = call("GET", target);
    CAPTURE(target);
    CAPTURE(answer.body);
    CHECK(answer.status == 200);
    return json::parse(answer.body);
  }

  actors::address rest;
};

graph::job_graph checkpointed(std::uint64_t id) {
  auto sample = source_to_sink(2, 4, id);
  sample.job().checkpoints.interval_ms = 1'000;
  sample.job().checkpoints.timeout_ms = 5'000;
  return sample.job();
}

} // namespace

TEST_SUITE("scheduler/rest/rest_endpoint") {
TEST_CASE("the cluster is described, with and without a version in the path") {
  rest_cluster cluster;
  auto& executor = cluster.add_executor(3);
  REQUIRE(cluster.run_until([&] { return cluster.get("/overview")["taskmanagers"] == 1; }));
  const auto job = cluster.client->submit(source_to_sink(2, 4).job());
  REQUIRE(job.has_value());
  REQUIRE(cluster.run_until_running(4));

  const auto overview = cluster.get("/v1/overview");
  CHECK(overview["slots-total"] == 3);
  CHECK(overview["slots-available"] == 1);
  CHECK(overview["jobs-running"] == 1);
  CHECK(cluster.get("/config")["features"]["web-cancel"] == true);
  CHECK(cluster.get("/jobmanager/config") == json::parse(R"([{"key": "rest.port", "value": "8081"},
                        {"key": "security.shared-secret", "value": "******"}])"));

  const auto executors = cluster.get("/v1/taskmanagers")["taskmanagers"];
  REQUIRE(executors.size() == 1);
  CHECK(executors[0]["id"] == to_string(executor.id));
  CHECK(executors[0]["slotsNumber"] == 3);
  CHECK(executors[0]["freeSlots"] == 1);
  const auto one = cluster.get("/taskmanagers/" + to_string(executor.id));
  REQUIRE(one["allocatedSlots"].size() == 2);
  CHECK(one["allocatedSlots"][0]["jobId"] == to_string(*job));
  CHECK(cluster.call("GET", "/taskmanagers/" + to_string(job_id{1, 1})).status == 404);

  const auto where = cluster.get("/debug/cluster");
  CHECK(where["jobmanager"]["rpc-address"] == "10.0.0.1");
  CHECK(where["jobmanager"]["rpc-port"] == 6123);
  CHECK(where["dispatcher"]["endpoint"] == "dispatcher");
}

TEST_CASE("a job is described while it runs, and after its end") {
  rest_cluster cluster;
  cluster.add_executor(2);
  const auto job = cluster.client->submit(checkpointed(7));
  REQUIRE(job.has_value());
  REQUIRE(cluster.run_until_running(4));
  REQUIRE(cluster.run_until([&] { return !cluster.tasks.completed.empty(); }));
  const auto path = "/jobs/" + to_string(*job);

  const auto running = cluster.get(path);
  CHECK(running["state"] == "RUNNING");
  CHECK(running["vertices"][0]["tasks"]["RUNNING"] == 2);
  CHECK(running["plan"]["nodes"][1]["inputs"][0]["ship_strategy"] == "REBALANCE");
  CHECK(running["timestamps"]["RUNNING"] > 0);
  const auto checkpoints = cluster.get(path + "/checkpoints");
  CHECK(checkpoints["counts"]["completed"] >= 1);
  CHECK(checkpoints["latest"]["completed"]["num_acknowledged_subtasks"] == 4);
  const auto vertex = running["vertices"][1]["id"].get<std::string>();
  CHECK(cluster.get(path + "/plan")["plan"] == running["plan"]);
  CHECK(cluster.get(path + "/status")["status"] == "RUNNING");
  CHECK(cluster.get(path + "/vertices/" + vertex)["subtasks"][1]["status"] == "RUNNING");
  CHECK(cluster.call("GET", path + "/vertices/" + to_string(*job)).status == 404);
  const auto subtask = cluster.get(path + "/vertices/" + vertex + "/subtasks/1");
  CHECK(subtask["subtask"] == 1);
  CHECK(subtask["status"] == "RUNNING");
  CHECK(cluster.call("GET", path + "/vertices/" + vertex + "/subtasks/2").status == 404);
  CHECK(cluster.call("GET", path + "/vertices/" + vertex + "/subtasks/-1").status == 400);
  const auto config = cluster.get(path + "/config");
  CHECK(config["jid"] == to_string(*job));
  CHECK(config["execution-config"]["job-parallelism"] == 2);
  CHECK(config["execution-config"]["restart-strategy"] ==
        "Restart with exponential delay: starting at PT0.1S, increasing by 1.500000, with maximum "
        "PT1M. Delay resets after PT1H with jitter 0.100000");
  CHECK(config["execution-config"]["user-config"] == json::object());
  const auto pressure = cluster.get(path + "/vertices/" + vertex + "/backpressure");
  CHECK(pressure["subtasks"].size() == 2);
  CHECK(cluster.call("GET", path + "/vertices/" + to_string(*job) + "/backpressure").status == 404);
  CHECK(cluster.get(path + "/vertices/" + vertex + "/metrics").size() >= 22);
  CHECK(cluster.get(path + "/vertices/" + vertex + "/metrics?get=1.numRecordsIn").size() == 1);
  CHECK(cluster.get("/jobs")["jobs"][0]["status"] == "RUNNING");
  CHECK(cluster.get("/jobs/overview")["jobs"][0]["tasks"]["running"] == 4);

  CHECK(cluster.call("PATCH", path).status == 202);
  REQUIRE(cluster.wait_for(*job, "canceled"));

  const auto ended = cluster.get(path);
  CHECK(ended["state"] == "CANCELED");
  CHECK(ended["end-time"] >= ended["start-time"]);
  CHECK(ended["vertices"][0]["status"] == "CANCELED");
  CHECK(cluster.get(path + "/checkpoints")["counts"]["completed"] >= 1);
}

TEST_CASE("failures are remembered, with the task and the place") {
  rest_cluster cluster;
  auto& executor = cluster.add_executor(2);
  const auto job = cluster.client->submit(source_to_sink(2, 4).job());
  REQUIRE(cluster.run_until_running(4));

  const auto attempt = cluster.tasks.running.begin()->first;
  cluster.tasks.running.begin()->second.where->end(attempt, schema::TaskState::FAILED,
                                                   error(errc::user_function_failed, "boom"));
  REQUIRE(cluster.run_until([&] { return cluster.tasks.submitted.size() == 8; }));

  const auto told =
      cluster.get("/jobs/" + to_string(*job) + "/exceptions")["exceptionHistory"]["entries"];
  REQUIRE(told.size() == 1);
  CHECK(told[0]["exceptionName"] == "user_function_failed");
  CHECK(told[0]["taskManagerId"] == to_string(executor.id));
  CHECK(told[0]["taskName"].get<std::string>().find("/2)") != std::string::npos);
}

TEST_CASE("stop leaves a savepoint to start from again") {
  rest_cluster cluster;
  cluster.add_executor(2);
  const auto job = cluster.client->submit(checkpointed(7));
  const auto path = "/jobs/" + to_string(*job) + "?mode=stop";
  REQUIRE(cluster.run_until_running(4));
  const auto stopped = cluster.call("PATCH", path);
  CHECK(stopped.status == 202);
  REQUIRE(cluster.wait_for(*job, "finished"));

  const auto directory = json::parse(stopped.body)["external_path"].get<std::string>();
  CHECK(std::filesystem::exists(directory + "/_metadata"));
  const auto newest =
      cluster.get("/jobs/" + to_string(*job) + "/checkpoints")["latest"]["savepoint"];
  CHECK(newest["external_path"] == directory);
  CHECK(newest["is_savepoint"] == true);
  CHECK(newest["checkpoint_type"] == "SYNC_SAVEPOINT");
  CHECK(cluster.get("/jobs/" + to_string(*job) + "/checkpoints/details/" + newest["id"].dump()) ==
        newest);
}

TEST_CASE("savepoints are triggered, and asked after") {
  rest_cluster cluster;
  cluster.add_executor(2);
  const auto job = cluster.client->submit(checkpointed(7));
  const auto path = "/jobs/" + to_string(*job);
  REQUIRE(cluster.run_until_running(4));
  REQUIRE(cluster.wait_for(*job, "running"));
  const auto target = (cluster.directory() / "there").string();
  const auto outcome_of = [&](const std::string& request) {
    json told;
    for (int i = 0; i < 100; ++i) {
      told = cluster.get(path + "/savepoints/" + request);
      if (told["status"]["id"] == "COMPLETED")
        break;
      CHECK(told["status"]["id"] == "IN_PROGRESS");
      cluster.node->advance(std::chrono::milliseconds(10));
    }
    return told["operation"];
  };

  const auto taken =
      cluster.call("POST", path + "/savepoints",
                   R"({"target-directory": ")" + target + R"(", "formatType": "NATIVE"})");
  REQUIRE(taken.status == 202);
  const auto savepoint = outcome_of(json::parse(taken.body)["request-id"].get<std::string>());
  const auto location = savepoint["location"].get<std::string>();
  CHECK(location.starts_with(target + "/savepoint-"));
  const auto told = cluster.get(path + "/checkpoints")["latest"]["savepoint"];
  CHECK(told["external_path"] == location);
  CHECK(told["checkpoint_type"] == "SAVEPOINT");
  CHECK(told["savepointFormat"] == "NATIVE");

  const std::string own(32, 'a');
  const auto stopped =
      cluster.call("POST", path + "/stop", R"({"drain": true, "triggerId": ")" + own + R"("})");
  CHECK(json::parse(stopped.body)["request-id"] == own);
  CHECK(std::filesystem::exists(outcome_of(own)["location"].get<std::string>() + "/_metadata"));
  CHECK(cluster.wait_for(*job, "finished"));
  const auto late = cluster.call("POST", path + "/savepoints");
  CHECK(late.status == 409);
}

TEST_CASE("a savepoint that failed is told with its cause") {
  rest_cluster cluster;
  cluster.add_executor(2);
  auto graph = checkpointed(7);
  graph.checkpoints.timeout_ms = 300;
  graph.checkpoints.tolerable_failures = -1;
  const auto job = cluster.client->submit(graph);
  REQUIRE(cluster.run_until_running(4));
  REQUIRE(cluster.wait_for(*job, "running"));
  cluster.tasks.acknowledges = false;

  const auto path = "/jobs/" + to_string(*job) + "/savepoints";
  const auto request =
      json::parse(cluster.call("POST", path).body)["request-id"].get<std::string>();
  for (int i = 0; i < 20; ++i)
    cluster.node->advance(std::chrono::milliseconds(100));

  const auto told = cluster.get(path + "/" + request);
  CHECK(told["status"]["id"] == "COMPLETED");
  CHECK(told["operation"]["failure-cause"]["class"] == "checkpoint_expired");
}

TEST_CASE("all actors are seen, and one by one; a node that does not answer is silent") {
  rest_cluster cluster;
  cluster.add_executor(2);
  REQUIRE(cluster.run_until([&] { return cluster.get("/overview")["taskmanagers"] == 1; }));

  const auto all = cluster.get("/debug/actors");
  REQUIRE(all["nodes"].size() == 1);
  CHECK(all["nodes"][0]["state"] == "answered");
  std::string dispatcher;
  for (const auto& actor : all["actors"])
    if (actor["name"] == "dispatcher") {
      dispatcher = actor["id"].get<std::string>();
      CHECK(actor["parent"] == "root");
      CHECK(actor["state"] == "running");
      CHECK(actor["messages"]["ListJobs"] >= 1);
      CHECK(actor["last-error"].is_null());
    }
  REQUIRE_FALSE(dispatcher.empty());
  CHECK(cluster.get("/debug/actors/" + dispatcher)["name"] == "dispatcher");
  CHECK(cluster.call("GET", "/debug/actors/" + dispatcher + "999").status == 404);
  CHECK(cluster.call("GET", "/debug/actors/x").status == 400);
  CHECK(cluster.call("GET", "/debug/actors/" + std::string(32, '1') + "-1").status == 503);
}

TEST_CASE("what cannot be is refused in words") {
  rest_cluster cluster;
  struct row {
    const char* method;
    const char* target;
    unsigned status;
  };
  const row rows[] = {
      {"GET", "/nothing", 404},
      {"DELETE", "/jobs", 405},
      {"GET", "/jobs/12", 400},
      {"GET", "/jobs/00000000000000070000000000000008", 404},
      {"GET", "/v1/jobs/00000000000000070000000000000008/exceptions", 404},
      {"GET", "/jobs/00000000000000070000000000000008/checkpoints/details/0", 400},
      {"GET", "/jobs/00000000000000070000000000000008/checkpoints/details/1x", 400},
      {"PATCH", "/jobs/00000000000000070000000000000008", 404},
      {"PATCH", "/jobs/00000000000000070000000000000008?mode=pause", 400},
      {"POST", "/jobs/00000000000000070000000000000008/savepoints", 404},
      {"POST", "/jobs/00000000000000070000000000000008/stop", 404},
      {"GET", "/jobs/00000000000000070000000000000008/savepoints/00000000000000070000000000000008",
       404},
      {"GET", "/jobs/00000000000000070000000000000008/savepoints/1", 400},
  };
  for (const auto& each : rows) {
    CAPTURE(each.target);
    const auto answer = cluster.call(each.method, each.target);
    CHECK(answer.status == each.status);
    CHECK(json::parse(answer.body)["errors"].size() == 1);
  }
}
} // TEST_SUITE("scheduler/rest/rest_endpoint")
