#include "test/libscheduler/testing_cluster.hpp"
#include "test/support/seed.hpp"
#include "libactors/base/random.hpp"
#include "libactors/message/ids_codec.hpp"

#include <doctest/doctest.h>

namespace headrace::scheduler {

using testing::source_to_sink;
using testing::testing_cluster;

namespace {

/// All splits that readers of the job hold; a split that two hold counts twice.
std::multiset<std::string> splits_held(const testing_cluster& cluster) {
  std::multiset<std::string> held;
  for (const auto& [attempt, task] : cluster.tasks.running)
    held.insert(task.splits.begin(), task.splits.end());
  return held;
}
graph::checkpoint_spec every(std::int64_t interval_ms) {
  graph::checkpoint_spec spec;
  spec.interval_ms = interval_ms;
  spec.timeout_ms = 5'000;
  return spec;
}
/// Passes on to a true storage until it is said to be full.
class failing_storage final : public state::checkpoint_storage {
public:
  failing_storage(std::unique_ptr<state::checkpoint_storage> inner, const bool& is_full)
      : inner_(std::move(inner)), is_full_(is_full) {}

  status begin(checkpoint_id id) override { return inner_->begin(id); }
  std::string directory(checkpoint_id id) const override { return inner_->directory(id); }
  status begin_savepoint(const std::string& directory) override {
    return inner_->begin_savepoint(directory);
  }
  result<std::unique_ptr<state::subtask_target>>
  open(const std::string& directory, const state::subtask_file& name, bool is_savepoint) override {
    return inner_->open(directory, name, is_savepoint);
  }
  status complete(state::completed_checkpoint& checkpoint) override {
    if (is_full_)
      return error(errc::storage_full, "no space left");
    return inner_->complete(checkpoint);
  }
  result<std::vector<checkpoint_id>> list() override { return inner_->list(); }
  result<state::completed_checkpoint> read(checkpoint_id id) override { return inner_->read(id); }
  status remove(const state::completed_checkpoint& checkpoint,
                const std::vector<state::completed_checkpoint>& kept) override {
    return inner_->remove(checkpoint, kept);
  }
  status abort(checkpoint_id id) override { return inner_->abort(id); }
  status abort_savepoint(const std::string& directory) override {
    return inner_->abort_savepoint(directory);
  }
  result<std::vector<checkpoint_id>> retain(std::size_t count) override {
    return inner_->retain(count);
  }
  status leave(bool is_over) override { return inner_->leave(is_over); }

private:
  std::unique_ptr<state::checkpoint_storage> inner_;
  const bool& is_full_;
};

execution_attempt_id some_task(const testing_cluster& cluster, bool is_source) {
  for (const auto& [attempt, task] : cluster.tasks.running) {
    if (task.is_source == is_source)
      return attempt;
  }
  return {};
}

} // namespace

TEST_SUITE("scheduler/job_master/job_master_endpoint") {

TEST_CASE("a job runs from its submission to its result, and its slots are free again") {
  testing_cluster cluster;
  cluster.add_executor(2);
  const auto job = cluster.client->submit(source_to_sink(2, 5).job());
  REQUIRE(job.has_value());
  REQUIRE(cluster.run_until_running(4));
  REQUIRE(cluster.run_until([&] { return splits_held(cluster).size() == 5; }));
  CHECK(cluster.state_of(*job) == "running");

  cluster.finish(*job);
  const auto outcome = cluster.client->wait(*job);

  REQUIRE(outcome.has_value());
  CHECK(outcome->state == job_state::finished);
  CHECK(outcome->restarts == 0);
  const auto last = cluster.client->status(*job);
  REQUIRE(last.has_value());
  CHECK(last->vertices.at(0).records_in == 14);

  const auto next = cluster.client->submit(source_to_sink(2, 1, 8).job());
  REQUIRE(next.has_value());
  CHECK(cluster.run_until_running(4));
  CHECK(cluster.client->list()->view()->getJobs().size() == 2);
}

TEST_CASE("a job waits for slots and says so; too long a wait fails it") {
  testing_cluster cluster;
  cluster.add_executor(1);
  auto sample = source_to_sink(3, 1);
  sample.job().slot_timeout_ms = 2'000;
  const auto job = cluster.client->submit(sample.job());
  REQUIRE(job.has_value());
  cluster.node->advance(std::chrono::milliseconds(500));
  CHECK(cluster.client->status(*job)->waiting_for == "2 more slots (has 1 of 3)");

  const auto outcome = cluster.client->wait(*job);

  REQUIRE(outcome.has_value());
  CHECK(outcome->state == job_state::failed);
  CHECK(outcome->failure.code == errc::not_enough_slots);
  CHECK(outcome->failure.message.find("required 3, available 1") != std::string::npos);
}

TEST_CASE("a task executor that comes later brings the slots that a job waits for") {
  testing_cluster cluster;
  const auto job = cluster.client->submit(source_to_sink(2, 1).job());
  REQUIRE(job.has_value());
  cluster.node->advance(std::chrono::milliseconds(500));
  CHECK(cluster.tasks.running.empty());

  cluster.add_executor(2);

  CHECK(cluster.run_until_running(4));
}

TEST_CASE("a canceled job ends its tasks") {
  testing_cluster cluster;
  cluster.add_executor(2);
  const auto job = cluster.client->submit(source_to_sink(2, 1).job());
  REQUIRE(cluster.run_until_running(4));

  CHECK(cluster.client->cancel(*job).has_value());

  CHECK(cluster.client->wait(*job)->state == job_state::canceled);
  CHECK(cluster.tasks.running.empty());
  CHECK(cluster.client->cancel(*job).has_value());
}

TEST_CASE("a failed task restarts the job; splits come back when there is no checkpoint") {
  testing_cluster cluster;
  cluster.add_executor(2);
  const auto job = cluster.client->submit(source_to_sink(2, 6).job());
  REQUIRE(cluster.run_until([&] { return splits_held(cluster).size() == 6; }));

  const auto failing = some_task(cluster, false);
  cluster.tasks.running.at(failing).where->end(failing, schema::TaskState::FAILED,
                                               error(errc::user_function_failed, "broke"));

  REQUIRE(cluster.run_until(
      [&] { return cluster.tasks.submitted.size() == 8 && splits_held(cluster).size() == 6; }));
  CHECK(cluster.wait_for(*job, "running"));
  const auto known = cluster.client->status(*job);
  CHECK(known->restarts == 1);
  CHECK(known->failure.code == errc::user_function_failed);
}

TEST_CASE("a killed task executor's tasks start elsewhere, from the newest checkpoint") {
  testing_cluster cluster;
  cluster.add_executor(2);
  cluster.add_executor(2);
  auto sample = source_to_sink(2, 6);
  sample.job().checkpoints = every(1'000);
  const auto job = cluster.client->submit(sample.job());
  REQUIRE(cluster.run_until([&] { return splits_held(cluster).size() == 6; }));
  REQUIRE(cluster.run_until([&] { return cluster.tasks.completed.contains(2); }));

  // Spread: one slot each.
  cluster.kill(cluster.executors[0]);

  REQUIRE(cluster.run_until_running(4));
  REQUIRE(cluster.run_until([&] { return splits_held(cluster).size() == 6; }));
  for (const auto& [attempt, task] : cluster.tasks.running) {
    CHECK(task.where == cluster.executors[1].actor);
    CHECK(task.restored >= 2);
    CHECK(attempt.attempt == 1);
  }
  CHECK(cluster.wait_for(*job, "running"));
}

TEST_CASE("splits assigned after the restored checkpoint are read once") {
  testing_cluster cluster;
  cluster.add_executor(1);
  auto sample = source_to_sink(1, 6);
  sample.job().checkpoints = every(1'000);
  cluster.tasks.asks_for_splits = false; // one each
  const auto job = cluster.client->submit(sample.job());
  REQUIRE(cluster.run_until([&] { return cluster.tasks.completed.contains(1); }));
  CHECK(splits_held(cluster).size() == 1);
  cluster.tasks.acknowledges = false;

  const auto failing = some_task(cluster, true);
  cluster.tasks.asks_for_splits = true;
  cluster.tasks.running.at(failing).where->end(failing, schema::TaskState::FAILED,
                                               error(errc::user_function_failed, "broke"));

  REQUIRE(cluster.run_until([&] { return splits_held(cluster).size() == 6; }));
  const auto held = splits_held(cluster);
  CHECK(std::set<std::string>(held.begin(), held.end()).size() == 6);
}

TEST_CASE("a task executor that is silent is lost after the heartbeat timeout") {
  testing_cluster cluster;
  cluster.add_executor(2);
  const auto job = cluster.client->submit(source_to_sink(2, 1).job());
  REQUIRE(cluster.run_until_running(4));
  cluster.executors[0].actor->is_silent = true;

  cluster.node->advance(std::chrono::milliseconds(9'000));
  CHECK(cluster.state_of(*job) == "running");
  cluster.node->advance(std::chrono::milliseconds(4'000));

  CHECK(cluster.state_of(*job) == "restarting");
}

TEST_CASE("a job runs again on a task executor that had lost its job master") {
  for (const bool says_so : {true, false}) {
    CAPTURE(says_so);
    testing_cluster cluster;
    cluster.add_executor(2);
    const auto job = cluster.client->submit(source_to_sink(2, 1).job());
    REQUIRE(cluster.run_until_running(4));

    cluster.executors[0].actor->forget(*job, says_so);
    CHECK(cluster.run_until([&] { return cluster.client->status(*job)->restarts == 1; }));
    CHECK(cluster.run_until_running(4));
    cluster.node->advance(std::chrono::milliseconds(30'000));

    CHECK(cluster.state_of(*job) == "running");
    CHECK(cluster.client->status(*job)->restarts == 1);
  }
}

TEST_CASE("a task executor that is lost by its silence is told, as it may live on") {
  testing_cluster cluster;
  cluster.add_executor(2);
  const auto job = cluster.client->submit(source_to_sink(2, 1).job());
  REQUIRE(cluster.run_until_running(4));
  cluster.executors[0].actor->is_silent = true;

  cluster.node->advance(std::chrono::milliseconds(13'000));

  CHECK(cluster.executors[0].actor->disconnects == 1);
}

TEST_CASE("a refused submission of a task is a failure that restarts") {
  testing_cluster cluster;
  cluster.add_executor(2);
  cluster.tasks.refuses_submissions = 1;
  const auto job = cluster.client->submit(source_to_sink(2, 3).job());
  REQUIRE(job.has_value());

  CHECK(cluster.run_until([&] { return cluster.client->status(*job)->restarts == 1; }));
  CHECK(cluster.run_until_running(4));
  CHECK(cluster.wait_for(*job, "running"));
}

TEST_CASE("a source whose input is not there fails the job at once") {
  testing_cluster cluster;
  cluster.add_executor(1);
  auto sample = source_to_sink(1, 1);
  sample.job().restart.kind = graph::restart_kind::fixed_delay;
  sample.job().restart.attempts = 1;
  sample.job().restart.delay_ms = 10;
  auto& spec = std::get<graph::source_spec>(sample.at(0).operators[0].spec);
  spec.connector.options["fails"] = "yes";
  const auto job = cluster.client->submit(sample.job());

  const auto outcome = cluster.client->wait(*job);

  CHECK(outcome->state == job_state::failed);
  CHECK(outcome->restarts == 0);
  CHECK(outcome->failure.has(errc::input_not_found));
}

TEST_CASE("tasks that wait at their end get a checkpoint at once") {
  testing_cluster cluster;
  cluster.add_executor(2);
  auto sample = source_to_sink(2, 2);
  sample.job().checkpoints = every(3'600'000);
  const auto job = cluster.client->submit(sample.job());
  REQUIRE(cluster.run_until_running(4));
  cluster.node->advance(std::chrono::milliseconds(50));
  CHECK(cluster.tasks.completed.empty());

  for (const auto& [attempt, task] : cluster.tasks.running) {
    message_builder<schema::CheckpointAwaited> news;
    write(news->initAttempt(), attempt);
    task.where->tell_awaited(task.master, news.finish(), task.token);
  }
  REQUIRE(cluster.run_until([&] { return !cluster.tasks.completed.empty(); }));
  cluster.finish(*job);

  const auto outcome = cluster.client->wait(*job);
  CHECK(outcome->state == job_state::finished);
  CHECK(outcome->completed_checkpoints >= 1);
  CHECK(outcome->runtime_ms < 10'000);
}

TEST_CASE("checkpoints that nobody acknowledges expire, and fail the job beyond its tolerance") {
  testing_cluster cluster;
  cluster.add_executor(1);
  auto sample = source_to_sink(1, 1);
  sample.job().checkpoints = every(100);
  sample.job().checkpoints.timeout_ms = 1'000;
  sample.job().restart.kind = graph::restart_kind::none;
  cluster.tasks.acknowledges = false;
  const auto job = cluster.client->submit(sample.job());

  const auto outcome = cluster.client->wait(*job);

  CHECK(outcome->state == job_state::failed);
  CHECK(outcome->failure.has(errc::checkpoint_expired));
  CHECK(!cluster.tasks.aborted.empty());
}

TEST_CASE("a later job starts from the checkpoint of an earlier one; a missing one is named") {
  testing_cluster cluster;
  cluster.add_executor(2);
  auto sample = source_to_sink(2, 4);
  sample.job().checkpoints = every(500);
  sample.job().checkpoints.keep_on_cancel = true;
  const auto first = cluster.client->submit(sample.job());
  REQUIRE(cluster.run_until([&] { return splits_held(cluster).size() == 4; }));
  const auto before = cluster.tasks.completed.size();
  REQUIRE(cluster.run_until([&] { return cluster.tasks.completed.size() >= before + 2; }));
  CHECK(cluster.client->cancel(*first).has_value());
  REQUIRE(cluster.client->wait(*first)->state == job_state::canceled);
  const std::string path = cluster.client->status(*first)->last_checkpoint_path;
  REQUIRE(std::filesystem::exists(path));

  auto again = source_to_sink(2, 4, 8);
  again.job().checkpoints.restore_from = path;
  const auto second = cluster.client->submit(again.job());
  REQUIRE(second.has_value());
  REQUIRE(cluster.run_until_running(4));
  CHECK(splits_held(cluster).size() == 4);
  CHECK(cluster.client->status(*second)->restored_checkpoint > 0);

  auto missing = source_to_sink(2, 4, 9);
  missing.job().checkpoints.restore_from = path + "-not-there";
  const auto third = cluster.client->submit(missing.job());
  const auto outcome = cluster.client->wait(*third);
  CHECK(outcome->state == job_state::failed);
  CHECK(to_string(outcome->failure).find("-not-there") != std::string::npos);

  std::filesystem::remove_all(cluster.tasks.state_directory);
  auto moved = source_to_sink(2, 4, 10);
  moved.job().checkpoints.restore_from = path;
  const auto refused = cluster.client->wait(*cluster.client->submit(moved.job()));
  CHECK(refused->state == job_state::failed);
  CHECK(refused->restarts == 0);
  CHECK(to_string(refused->failure).find("4 of the 4 files of " + path) != std::string::npos);
}

TEST_CASE("a checkpoint directory that cannot be made fails the job before it starts") {
  testing_cluster cluster;
  cluster.add_executor(2);
  REQUIRE(cluster.files->create_directories(cluster.directory()));
  REQUIRE(cluster.files->write_atomically(cluster.directory() / "file", "x"));
  auto sample = source_to_sink(2, 4);
  sample.job().checkpoints = every(500);
  sample.job().checkpoints.directory = cluster.directory() / "file";
  const auto job = cluster.client->submit(sample.job());
  REQUIRE(job.has_value());

  const auto outcome = cluster.client->wait(*job);

  REQUIRE(outcome.has_value());
  CHECK(outcome->state == job_state::failed);
  CHECK(outcome->restarts == 0);
  CHECK(outcome->failure.has(errc::bad_option_value));
  CHECK(to_string(outcome->failure).find("checkpoints cannot be made there: ") !=
        std::string::npos);
  CHECK(cluster.tasks.submitted.empty());
}

TEST_CASE("storage that fails aborts checkpoints, and the job goes on when that is tolerated") {
  testing_cluster cluster;
  cluster.add_executor(1);
  cluster.services->make_storage = [&](const std::string& root, job_id job) {
    return std::make_shared<failing_storage>(
        state::make_file_checkpoint_storage(*cluster.files, root, job), cluster.storage_is_full);
  };
  auto sample = source_to_sink(1, 1);
  sample.job().checkpoints = every(200);
  sample.job().checkpoints.tolerable_failures = -1;
  const auto job = cluster.client->submit(sample.job());
  REQUIRE(cluster.run_until([&] { return cluster.tasks.completed.size() == 2; }));
  cluster.storage_is_full = true;
  REQUIRE(cluster.run_until([&] { return cluster.tasks.aborted.size() == 2; }));
  CHECK(cluster.state_of(*job) == "running");

  const auto failing = some_task(cluster, true);
  cluster.tasks.running.at(failing).where->end(failing, schema::TaskState::FAILED,
                                               error(errc::user_function_failed, "broke"));
  REQUIRE(cluster.run_until([&] { return cluster.tasks.submitted.size() == 4; }));
  CHECK(cluster.tasks.running.begin()->second.restored == *cluster.tasks.completed.rbegin());

  cluster.storage_is_full = false;
  const auto before = cluster.tasks.completed.size();
  CHECK(cluster.run_until([&] { return cluster.tasks.completed.size() > before; }));
}

TEST_CASE(
    "what a task wrote after its checkpoint was aborted goes when it answers, or the job ends") {
  testing_cluster cluster;
  cluster.add_executor(1);
  std::shared_ptr<failing_storage> storage;
  cluster.services->make_storage = [&](const std::string& root, job_id job) {
    storage = std::make_shared<failing_storage>(
        state::make_file_checkpoint_storage(*cluster.files, root, job), cluster.storage_is_full);
    return storage;
  };
  cluster.storage_is_full = true;
  auto sample = source_to_sink(1, 1);
  sample.job().checkpoints = every(200);
  sample.job().checkpoints.tolerable_failures = -1;
  const auto job = cluster.client->submit(sample.job());
  REQUIRE(cluster.run_until([&] { return cluster.tasks.aborted.size() == 2; }));
  const auto checkpoint = *cluster.tasks.aborted.begin();
  const auto left = storage->directory(checkpoint);
  const auto write_late = [&] {
    CHECK_FALSE(std::filesystem::exists(left));
    REQUIRE(cluster.files->create_directories(left));
    REQUIRE(cluster.files->write_atomically(left + "/part", "late"));
  };

  write_late();
  const auto late = some_task(cluster, false);
  cluster.tasks.running.at(late).where->acknowledge(late, checkpoint);
  CHECK(cluster.run_until([&] { return !std::filesystem::exists(left); }));

  write_late();
  CHECK(cluster.client->cancel(*job).has_value());
  REQUIRE(cluster.client->wait(*job)->state == job_state::canceled);

  CHECK(cluster.run_until([&] { return !std::filesystem::exists(left); }));
}

TEST_CASE("a job that is canceled while a checkpoint is stored tells of the one that stays") {
  for (int skipped = 0; skipped < 160; ++skipped) {
    CAPTURE(skipped);
    testing_cluster cluster;
    cluster.add_executor(1);
    auto sample = source_to_sink(1, 1);
    sample.job().checkpoints = every(200);
    sample.job().checkpoints.keep_on_cancel = true;
    const auto job = cluster.client->submit(sample.job());
    REQUIRE(cluster.run_until([&] { return cluster.tasks.completed.size() >= 2; }));
    int steps = 0;
    REQUIRE(cluster.run_until([&] { return steps++ == skipped; }));

    CHECK(cluster.client->cancel(*job).has_value());
    auto told = cluster.client->status(*job);
    while (told && !is_terminal(told->state))
      told = cluster.client->status(*job);
    REQUIRE(told.has_value());

    CHECK(told->state == job_state::canceled);
    cluster.node->advance(std::chrono::seconds(1));
    CHECK(cluster.client->status(*job)->last_checkpoint_path == told->last_checkpoint_path);
    CHECK(std::filesystem::exists(told->last_checkpoint_path));
  }
}

TEST_CASE("a corrupt checkpoint is refused by name, and only the retained ones are kept") {
  testing_cluster cluster;
  cluster.add_executor(1);
  auto sample = source_to_sink(1, 1);
  sample.job().checkpoints = every(200);
  sample.job().checkpoints.keep_on_cancel = true;
  sample.job().checkpoints.retained = 2;
  const auto job = cluster.client->submit(sample.job());
  REQUIRE(cluster.run_until([&] { return cluster.tasks.completed.size() == 5; }));
  CHECK(cluster.client->cancel(*job).has_value());
  REQUIRE(cluster.client->wait(*job)->state == job_state::canceled);
  const std::filesystem::path path = cluster.client->status(*job)->last_checkpoint_path;
  std::size_t kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path()))
    kept += entry.path().filename().string().starts_with("chk-") ? 1 : 0;
  CHECK(kept == 2);
  std::filesystem::resize_file(path / "_metadata",
                               std::filesystem::file_size(path / "_metadata") - 1);

  auto again = source_to_sink(1, 1, 8);
  again.job().checkpoints.restore_from = path;
  const auto second = cluster.client->submit(again.job());
  const auto outcome = cluster.client->wait(*second);

  CHECK(outcome->state == job_state::failed);
  CHECK(outcome->failure.has(errc::corrupt_snapshot));
  CHECK(to_string(outcome->failure).find(path.filename().string()) != std::string::npos);
}

TEST_CASE("slots are taken at their first offer") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    testing_cluster cluster(seed);
    cluster.add_executor(2);
    cluster.add_executor(2);
    CHECK(cluster.client->submit(source_to_sink(2, 4).job()).has_value());

    REQUIRE(cluster.run_until_running(4));

    CHECK(cluster.tasks.refused_offers == 0);
  }
}

TEST_CASE("rows of a collecting sink reach the client, also after the job has ended") {
  testing_cluster cluster;
  cluster.add_executor(1);
  auto sample = source_to_sink(1, 1);
  const auto sink = sample.at(1).operators[0].id;
  const auto job = cluster.client->submit(sample.job());
  REQUIRE(cluster.run_until_running(2));
  CHECK(cluster.client->fetch(*job, sink, 0)->batches.empty());

  const auto writer = some_task(cluster, false);
  cluster.tasks.running.at(writer).where->say_collected(writer, sink, "rows", false);
  cluster.tasks.running.at(writer).where->say_collected(writer, sink, "more", true);
  cluster.node->run(10'000);
  cluster.finish(*job);
  CHECK(cluster.client->wait(*job)->state == job_state::finished);

  const auto rows = cluster.client->fetch(*job, sink, 0);
  REQUIRE(rows.has_value());
  CHECK(rows->batches == std::vector<byte_string>{"rows", "more"});
  CHECK(rows->is_last);
  for (int i = 0; i < 100; ++i) { // while its master ends, and after
    const auto rest = cluster.client->fetch(*job, sink, 2);
    REQUIRE(rest.has_value());
    CHECK(rest->is_last);
  }
}

TEST_CASE("a collecting sink is told what the client took") {
  testing_cluster cluster;
  cluster.add_executor(1);
  auto sample = source_to_sink(1, 1);
  const auto sink = sample.at(1).operators[0].id;
  const auto job = cluster.client->submit(sample.job());
  REQUIRE(cluster.run_until_running(2));
  const auto writer = some_task(cluster, false);
  cluster.tasks.running.at(writer).where->say_collected(writer, sink, "rows", false);
  cluster.node->run(10'000);

  CHECK(cluster.client->fetch(*job, sink, 0)->next_offset == 1);
  CHECK(cluster.tasks.running.at(writer).taken_bytes == 0); // the answer may be lost
  CHECK(cluster.client->fetch(*job, sink, 1)->batches.empty());
  cluster.node->run(10'000);

  CHECK(cluster.tasks.running.at(writer).taken_bytes == 4);
}

TEST_CASE("rows that would come twice fail the job, and say what to do") {
  testing_cluster cluster;
  cluster.add_executor(1);
  auto sample = source_to_sink(1, 1);
  const auto sink = sample.at(1).operators[0].id;
  const auto job = cluster.client->submit(sample.job());
  REQUIRE(cluster.run_until_running(2));
  const auto writer = some_task(cluster, false);
  cluster.tasks.running.at(writer).where->say_collected(writer, sink, "rows", false);
  cluster.node->run(10'000);

  cluster.tasks.running.at(writer).where->end(writer, schema::TaskState::FAILED,
                                              error(errc::user_function_failed, "broke"));

  const auto outcome = cluster.client->wait(*job);
  REQUIRE(outcome.has_value());
  CHECK(outcome->state == job_state::failed);
  CHECK(to_string(outcome->failure).find("execution.checkpointing.interval") != std::string::npos);
  CHECK(outcome->failure.has(errc::user_function_failed));
}

TEST_CASE("a job master's end is its job's failure, and no other job's") {
  testing_cluster cluster;
  cluster.add_executor(2);
  const auto first = cluster.client->submit(source_to_sink(1, 1).job());
  const auto second = cluster.client->submit(source_to_sink(1, 1, 8).job());
  REQUIRE(cluster.run_until_running(4));
  const auto master = cluster.tasks.running.at(some_task(cluster, true)).master;
  const bool is_first = master.endpoint.find(to_string(*first)) != std::string::npos;

  CHECK(cluster.node->kill(master));

  const auto& lost = is_first ? first : second;
  const auto& other = is_first ? second : first;
  CHECK(cluster.client->wait(*lost)->state == job_state::failed);
  CHECK(cluster.state_of(*other) == "running");
}

TEST_CASE("a job is unknown, submitted twice, or no graph") {
  testing_cluster cluster;
  CHECK(cluster.client->status({1, 1}).error().code == errc::job_not_found);
  CHECK(cluster.client->cancel({1, 1}).error().code == errc::job_not_found);
  CHECK(cluster.client->wait({1, 1}).error().code == errc::job_not_found);
  CHECK(cluster.client->submit(source_to_sink(1, 1).job()).has_value());
  CHECK(cluster.client->submit(source_to_sink(1, 1).job()).error().code == errc::duplicate_job);
}

TEST_CASE("a dispatcher that starts again runs the stored jobs on") {
  testing_cluster cluster;
  cluster.add_executor(2);
  auto sample = source_to_sink(2, 4);
  sample.job().checkpoints = every(500);
  const auto job = cluster.client->submit(sample.job());
  REQUIRE(cluster.run_until([&] { return cluster.tasks.completed.contains(3); }));

  cluster.node->kill(cluster.dispatcher);
  cluster.node->run(100'000);
  cluster.kill(cluster.executors[0]);
  cluster.add_executor(2);
  cluster.node->run(100'000);
  cluster.start_dispatcher();
  cluster.client =
      std::make_unique<job_client>(*cluster.node, cluster.dispatcher, cluster.blob_server);
  REQUIRE(cluster.run_until([&] { return !cluster.tasks.running.empty(); }));

  CHECK(cluster.tasks.running.begin()->second.restored >= 3);
  CHECK(cluster.client->status(*job).has_value());
}

TEST_CASE("whatever fails, a job runs again and no split is lost or read twice") {
  for (std::uint64_t round = 0; round < 12; ++round) {
    CAPTURE(testing::seed());
    CAPTURE(round);
    auto random = make_seeded_random(testing::seed() + round);
    testing_cluster cluster(testing::seed() + round);
    cluster.add_executor(2);
    cluster.add_executor(2);
    auto sample = source_to_sink(2, 12);
    sample.job().checkpoints = every(200);
    sample.job().checkpoints.tolerable_failures = -1;
    sample.job().restart.max_backoff_ms = 500;
    sample.job().region_failover = random->below(2) == 0;
    const auto job = cluster.client->submit(sample.job());
    REQUIRE(job.has_value());
    for (int step = 0; step < 25; ++step) {
      cluster.node->advance(std::chrono::milliseconds(random->below(400)));
      if (cluster.tasks.running.empty())
        continue;
      auto victim = cluster.tasks.running.begin();
      std::advance(victim,
                   static_cast<std::ptrdiff_t>(random->below(cluster.tasks.running.size())));
      switch (random->below(4)) {
      case 0: {
        const auto attempt = victim->first;
        victim->second.where->end(attempt, schema::TaskState::FAILED,
                                  error(errc::user_function_failed, "broke"));
        break;
      }
      case 1:
        if (random->below(3) == 0 && cluster.executors.size() < 6) {
          for (auto& one : cluster.executors) {
            if (one.actor == victim->second.where) {
              cluster.kill(one);
              break;
            }
          }
          cluster.add_executor(2);
        }
        break;
      case 2:
        cluster.tasks.acknowledges = random->below(3) != 0;
        break;
      default:
        break;
      }
    }
    cluster.tasks.acknowledges = true;
    REQUIRE(cluster.run_until(
        [&] { return cluster.tasks.running.size() == 4 && splits_held(cluster).size() == 12; }));
    const auto held = splits_held(cluster);
    CHECK(std::set<std::string>(held.begin(), held.end()).size() == 12);
    CHECK(cluster.wait_for(*job, "running"));
    cluster.finish(*job);
    CHECK(cluster.client->wait(*job)->state == job_state::finished);
  }
}

} // TEST_SUITE("scheduler/job_master/job_master_endpoint")

} // namespace headrace::scheduler
