#include "libscheduler/dispatcher/dispatcher_endpoint.hpp"

#include "test/libscheduler/testing_cluster.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace headrace::scheduler {

using std::chrono::milliseconds;
using testing::source_to_sink;
using testing::testing_cluster;

namespace {

graph::checkpoint_spec every(std::int64_t interval_ms) {
  graph::checkpoint_spec spec;
  spec.interval_ms = interval_ms;
  spec.timeout_ms = 2'000;
  return spec;
}

result<message<schema::Acknowledge>> suspend(testing_cluster& cluster, milliseconds patience) {
  message_builder<schema::SuspendJobs> order;
  order->setTimeoutMs(patience.count());
  return cluster.node->ask_and_wait<schema::Acknowledge>(cluster.dispatcher, order.finish(),
                                                         2 * patience + milliseconds(1'000));
}

void restart(testing_cluster& cluster) {
  cluster.node->kill(cluster.dispatcher);
  cluster.node->run(100'000);
  cluster.start_dispatcher();
  cluster.client =
      std::make_unique<job_client>(*cluster.node, cluster.dispatcher, cluster.blob_server);
}

/// As when the process is killed: its task executors give the jobs up and come anew.
void lose(testing_cluster& cluster) {
  cluster.node->kill(cluster.dispatcher);
  cluster.node->run(100'000);
  cluster.kill(cluster.executors.back());
  cluster.add_executor(2);
  cluster.node->run(100'000);
}

/// Fails to read jobs, or to store their end, some times, as where a disk or a server does not
/// answer for a while.
class slow_to_wake_store final : public job_store {
public:
  slow_to_wake_store(std::unique_ptr<job_store> under, int failures, bool lists,
                     int end_failures = 0)
      : under_(std::move(under)), failures_(failures), lists_(lists), end_failures_(end_failures) {}
  status put(const graph::job_graph& job) override { return under_->put(job); }
  status remove(const job_id& job) override { return under_->remove(job); }
  result<std::vector<stored_job>> load(std::vector<error>& refused) override {
    if (failures_-- <= 0)
      return under_->load(refused);
    const error cause(errc::storage_failed, "input/output error");
    if (!lists_)
      return cause;
    refused.push_back(cause);
    return std::vector<stored_job>();
  }
  result<std::int32_t> next_generation(const job_id& job) override {
    return under_->next_generation(job);
  }
  status put_ended(const job_id& job, const message<schema::JobEnded>& how) override {
    if (end_failures_-- > 0)
      return error(errc::storage_failed, "input/output error");
    return under_->put_ended(job, how);
  }
  result<std::vector<message<schema::JobEnded>>> load_ended(std::vector<error>& refused) override {
    return under_->load_ended(refused);
  }

private:
  std::unique_ptr<job_store> under_;
  int failures_;
  bool lists_;
  int end_failures_;
};

const savepoint_wish stopping{{}, false, graph::savepoint_stop::suspend};

} // namespace

TEST_SUITE_BEGIN("scheduler/dispatcher/dispatcher_endpoint");

TEST_CASE("a stopped job finishes with a savepoint, which stays, also without an interval") {
  testing_cluster cluster;
  cluster.add_executor(2);
  const auto job = cluster.client->submit(source_to_sink(2, 4).job());
  REQUIRE(cluster.run_until_running(4));
  REQUIRE(cluster.wait_for(*job, "running"));

  const auto taken = cluster.client->savepoint(*job, stopping);

  REQUIRE(taken);
  CHECK(taken->checkpoint == 1);
  CHECK(cluster.client->wait(*job)->state == job_state::finished);
  CHECK(cluster.client->status(*job)->last_checkpoint_path == taken->path); // for who missed it
  CHECK(cluster.client->cancel(*job).error().code == errc::illegal_transition);
  CHECK(cluster.tasks.running.empty());
  CHECK(cluster.tasks.completed.contains(1));
  const auto kept = state::read_checkpoint(*cluster.files, taken->path);
  REQUIRE(kept);
  CHECK(kept->kind == state::checkpoint_kind::savepoint);
  CHECK(cluster.client->savepoint(*job, stopping).error().code == errc::checkpoint_declined);
  CHECK(cluster.client->savepoint({1, 1}, stopping).error().code == errc::job_not_found);
}

TEST_CASE("a savepoint goes where it is told, and the job runs on as if there were none") {
  testing_cluster cluster;
  cluster.add_executor(2);
  auto sample = source_to_sink(2, 4);
  sample.job().checkpoints = every(100);
  sample.job().checkpoints.retained = 1;
  const auto job = cluster.client->submit(sample.job());
  REQUIRE(cluster.run_until_running(4));
  savepoint_wish wish;
  wish.target_directory = (cluster.directory() / "mine").string() + "/";

  const auto taken = cluster.client->savepoint(*job, wish);

  REQUIRE(taken);
  CHECK(taken->path.starts_with((cluster.directory() / "mine/savepoint-000000-").string()));
  CHECK(!cluster.tasks.completed.contains(taken->checkpoint)); // nothing is made final for it
  const auto seen = cluster.client->status(*job)->last_checkpoint;
  for (int i = 0; i < 50 && cluster.client->status(*job)->last_checkpoint < seen + 3; ++i)
    cluster.node->advance(milliseconds(100));
  CHECK(cluster.client->status(*job)->last_checkpoint >= seen + 3);
  CHECK(cluster.client->status(*job)->last_checkpoint_path.find("/chk-") != std::string::npos);
  REQUIRE(cluster.client->cancel(*job));
  REQUIRE(cluster.wait_for(*job, "canceled"));
  CHECK(cluster.client->cancel(*job)); // asked for again, as after a lost answer
  CHECK(cluster.client->status(*job)->last_checkpoint_path.empty()); // it went with the job
  CHECK(!cluster.files->stat((cluster.directory() / "checkpoints" / to_string(*job)).string()));
  CHECK(state::read_checkpoint(*cluster.files, taken->path)); // neither retention nor the end
}

TEST_CASE("a job whose last savepoint fails goes on, and may be stopped later") {
  testing_cluster cluster;
  cluster.add_executor(2);
  auto sample = source_to_sink(2, 4);
  sample.job().checkpoints.timeout_ms = 500;
  const auto job = cluster.client->submit(sample.job());
  REQUIRE(cluster.run_until_running(4));
  cluster.tasks.acknowledges = false;

  CHECK(cluster.client->savepoint(*job, stopping).error().has(errc::checkpoint_expired));

  const auto known = cluster.client->status(*job);
  CHECK(known->state == job_state::running);
  CHECK(known->restarts == 0);
  cluster.tasks.acknowledges = true;
  CHECK(cluster.client->savepoint(*job, stopping));
}

TEST_CASE("a savepoint is taken again, elsewhere, when a task finishes while it is taken") {
  testing_cluster cluster;
  cluster.add_executor(2);
  const auto job = cluster.client->submit(source_to_sink(2, 4).job());
  REQUIRE(cluster.run_until_running(4));
  REQUIRE(cluster.wait_for(*job, "running"));
  cluster.tasks.acknowledges = false;
  const savepoint_trigger_id trigger{1, 2};
  REQUIRE(cluster.client->trigger_savepoint(*job, trigger, stopping));
  const auto savepoints = [&] {
    std::vector<std::string> out;
    const auto root = cluster.directory() / "checkpoints";
    if (std::filesystem::exists(root))
      for (const auto& entry : std::filesystem::directory_iterator(root))
        if (entry.path().filename().string().starts_with("savepoint-"))
          out.push_back(entry.path());
    return out;
  };
  REQUIRE(cluster.run_until([&] { return savepoints().size() == 1; }));
  const auto first = savepoints().front();
  cluster.node->run(100'000);

  cluster.tasks.acknowledges = true;
  const auto source = std::find_if(cluster.tasks.running.begin(), cluster.tasks.running.end(),
                                   [](const auto& each) { return each.second.is_source; });
  source->second.where->end(source->first, schema::TaskState::FINISHED);

  CHECK(cluster.client->wait(*job)->state == job_state::finished);
  const auto taken = cluster.client->savepoint_status(*job, trigger);
  REQUIRE(taken);
  REQUIRE(*taken);
  CHECK((*taken)->checkpoint == 2);
  CHECK((*taken)->path != first);
  CHECK(savepoints() == std::vector<std::string>{(*taken)->path});
  CHECK(state::read_checkpoint(*cluster.files, (*taken)->path));
}

TEST_CASE("a job that was drained for a savepoint that failed starts again") {
  testing_cluster cluster;
  cluster.add_executor(2);
  auto sample = source_to_sink(2, 4);
  sample.job().checkpoints.timeout_ms = 500;
  const auto job = cluster.client->submit(sample.job());
  REQUIRE(cluster.run_until_running(4));
  cluster.tasks.acknowledges = false;
  savepoint_wish draining;
  draining.stop = graph::savepoint_stop::drain;

  CHECK(cluster.client->savepoint(*job, draining).error().has(errc::checkpoint_expired));

  REQUIRE(cluster.run_until([&] { return cluster.tasks.submitted.size() == 8; }));
  CHECK(cluster.wait_for(*job, "running"));
}

TEST_CASE("a job of which a task fails behind its last savepoint runs on from that") {
  testing_cluster cluster;
  cluster.add_executor(2);
  const auto job = cluster.client->submit(source_to_sink(2, 4).job());
  REQUIRE(cluster.run_until_running(4));
  REQUIRE(cluster.wait_for(*job, "running"));
  cluster.tasks.ends_with_savepoints = false;
  const savepoint_trigger_id trigger{1, 2};
  REQUIRE(cluster.client->trigger_savepoint(*job, trigger, stopping));
  REQUIRE(cluster.run_until([&] { return cluster.tasks.completed.contains(1); }));
  cluster.node->run(100'000);
  CHECK(!*cluster.client->savepoint_status(*job, trigger)); // the job has not ended yet

  auto& [attempt, task] = *cluster.tasks.running.begin();
  task.where->end(attempt, schema::TaskState::FAILED, error(errc::user_function_failed, "boom"));

  REQUIRE(cluster.run_until([&] { return cluster.tasks.submitted.size() == 8; }));
  const auto failed = cluster.client->savepoint_status(*job, trigger);
  REQUIRE(!failed);
  CHECK(failed.error().has(errc::user_function_failed));
  CHECK(to_string(failed.error()).find("savepoint is complete, but") != std::string::npos);
  CHECK(cluster.wait_for(*job, "running"));
  for (const auto& [again, restarted] : cluster.tasks.running)
    CHECK(restarted.restored == 1);
  cluster.tasks.ends_with_savepoints = true;
  const auto later = cluster.client->savepoint(*job, stopping);
  REQUIRE(later);
  CHECK(later->checkpoint == 2);
}

TEST_CASE("a triggered savepoint is asked after by its id, also when its job is over") {
  testing_cluster cluster;
  cluster.add_executor(2);
  const auto job = cluster.client->submit(source_to_sink(2, 4).job());
  REQUIRE(cluster.run_until_running(4));
  REQUIRE(cluster.wait_for(*job, "running"));
  const savepoint_trigger_id trigger{1, 2};

  for (int i = 0; i < 2; ++i) // the second changes nothing
    REQUIRE(cluster.client->trigger_savepoint(*job, trigger, stopping));
  REQUIRE(cluster.wait_for(*job, "finished"));
  cluster.node->run(100'000);

  const auto known = cluster.client->savepoint_status(*job, trigger);
  REQUIRE(known);
  REQUIRE(*known);
  CHECK(state::read_checkpoint(*cluster.files, (**known).path));
  CHECK(cluster.client->savepoint_status(*job, {9, 9}).error().code == errc::state_not_found);
}

TEST_CASE("suspended jobs are run on by the next dispatcher, from their last checkpoint") {
  testing_cluster cluster;
  cluster.add_executor(4);
  auto sample = source_to_sink(2, 4);
  sample.job().checkpoints = every(1'000'000);
  const auto periodic = cluster.client->submit(sample.job());
  const auto plain = cluster.client->submit(source_to_sink(2, 4, 8).job());
  REQUIRE(cluster.run_until_running(8));

  REQUIRE(suspend(cluster, milliseconds(5'000)));
  CHECK(cluster.client->submit(source_to_sink(1, 1, 9).job()).error().code == errc::shut_down);
  cluster.node->run(100'000);
  CHECK(cluster.tasks.running.empty());
  restart(cluster);

  REQUIRE(cluster.run_until_running(8));
  for (const auto& [attempt, task] : cluster.tasks.running) {
    CHECK(attempt.generation == 1);
    CHECK(task.restored == 1);
  }
  CHECK(cluster.wait_for(*periodic, "running"));
  CHECK(cluster.wait_for(*plain, "running"));
}

TEST_CASE("a savepoint whose job is suspended may be ordered again at the next job manager") {
  testing_cluster cluster;
  cluster.add_executor(2);
  const auto job = cluster.client->submit(source_to_sink(2, 4).job());
  REQUIRE(cluster.run_until_running(4));
  REQUIRE(cluster.wait_for(*job, "running"));
  cluster.tasks.acknowledges = false;
  const savepoint_trigger_id trigger{1, 2};
  REQUIRE(cluster.client->trigger_savepoint(*job, trigger, stopping));

  REQUIRE(suspend(cluster, milliseconds(300)));
  cluster.node->run(100'000);

  const auto failed = cluster.client->savepoint_status(*job, trigger);
  REQUIRE(!failed);
  CHECK(failed.error().code == errc::shut_down);
  CHECK(failed.error().message.find("ask again") != std::string::npos);
  CHECK(cluster.client->savepoint(*job, stopping).error().code == errc::shut_down);
  CHECK(cluster.client->status(*job).error().code == errc::shut_down);
}

TEST_CASE("a checkpoint that does not come in time does not hold up the end of the process") {
  testing_cluster cluster;
  cluster.add_executor(2);
  const auto job = cluster.client->submit(source_to_sink(2, 4).job());
  REQUIRE(cluster.run_until_running(4));
  cluster.tasks.acknowledges = false;

  REQUIRE(suspend(cluster, milliseconds(300)));
  restart(cluster);

  REQUIRE(cluster.run_until_running(4));
  CHECK(cluster.tasks.running.begin()->second.restored == 0);
  CHECK(cluster.wait_for(*job, "running"));
}

TEST_CASE("a job without a task that runs is suspended at once") {
  testing_cluster cluster;
  const auto job = cluster.client->submit(source_to_sink(2, 4).job());
  REQUIRE(cluster.wait_for(*job, "running"));
  SUBCASE("it waits for slots") {}
  SUBCASE("its tasks are on their way") {
    cluster.tasks.starts = false;
    cluster.add_executor(2);
    REQUIRE(cluster.run_until([&] { return cluster.tasks.submitted.size() == 4; }));
  }

  message_builder<schema::SuspendJobs> order;
  order->setTimeoutMs(15'000);
  CHECK(cluster.node->ask_and_wait<schema::Acknowledge>(cluster.dispatcher, order.finish(),
                                                        milliseconds(100)));
}

TEST_CASE("who asks the next dispatcher for a job that has ended hears how it ended") {
  testing_cluster cluster;
  cluster.add_executor(2);
  const auto job = cluster.client->submit(source_to_sink(2, 4).job());
  REQUIRE(cluster.run_until_running(4));
  cluster.finish(*job);
  REQUIRE(cluster.client->wait(*job)->state == job_state::finished);
  cluster.node->run(100'000);

  restart(cluster);

  CHECK(cluster.client->wait(*job)->state == job_state::finished);
  CHECK(cluster.client->status(*job)->name == source_to_sink(2, 4).job().name);
  CHECK(cluster.client->submit(source_to_sink(2, 4).job()).error().code == errc::duplicate_job);
}

TEST_CASE("a job is over for its clients once that is stored, also where storage fails at first") {
  testing_cluster cluster;
  cluster.node->kill(cluster.dispatcher);
  cluster.node->run(100'000);
  cluster.start_dispatcher(std::make_shared<slow_to_wake_store>(
      make_file_job_store(*cluster.files, cluster.directory() / "jobs"), 0, false, 3));
  cluster.client =
      std::make_unique<job_client>(*cluster.node, cluster.dispatcher, cluster.blob_server);
  cluster.add_executor(2);
  const auto job = cluster.client->submit(source_to_sink(2, 4).job());
  REQUIRE(cluster.run_until_running(4));
  cluster.finish(*job);
  REQUIRE(cluster.client->wait(*job)->state == job_state::finished);

  lose(cluster);
  restart(cluster);
  CHECK(cluster.state_of(*job) == "finished");
  CHECK(cluster.tasks.running.empty());
}

TEST_CASE("a job that has ended does not begin anew, whenever its dispatcher is lost") {
  int runs_on = 0;
  int has_ended = 0;
  for (std::uint64_t steps = 0; steps < 60; ++steps) {
    CAPTURE(steps);
    testing_cluster cluster;
    cluster.add_executor(2);
    auto sample = source_to_sink(2, 4);
    sample.job().checkpoints = every(500);
    const auto job = cluster.client->submit(sample.job());
    REQUIRE(cluster.run_until([&] { return cluster.tasks.completed.contains(2); }));
    cluster.finish(*job);
    cluster.node->run(steps);

    cluster.node->kill(cluster.dispatcher);
    cluster.kill(cluster.executors[0]);
    cluster.add_executor(2);
    restart(cluster);
    const auto has_ended_now = [&] { return cluster.state_of(*job) == "finished"; };
    for (int i = 0; i < 600 && cluster.tasks.running.empty() && !has_ended_now(); ++i)
      cluster.node->advance(milliseconds(100));

    for (const auto& [attempt, task] : cluster.tasks.running)
      CHECK(task.restored > 0);
    CHECK(cluster.tasks.running.empty() == has_ended_now());
    (has_ended_now() ? has_ended : runs_on)++;
  }
  CHECK(runs_on > 0);
  CHECK(has_ended > 0);
}

TEST_CASE("a job goes on from its newest checkpoint when its master ends, but not for ever") {
  testing_cluster cluster;
  cluster.add_executor(2);
  auto sample = source_to_sink(2, 4);
  sample.job().checkpoints = every(100);
  const auto job = cluster.client->submit(sample.job());
  int masters = 0;
  const auto kill_master = [&] {
    const auto which = ++masters == 1 ? std::string() : "-" + std::to_string(masters);
    return cluster.node->kill(
        {cluster.node->environment().node, "dispatcher/jobmaster-" + to_string(*job) + which, 0});
  };

  for (int i = 0; i < dispatcher_settings{}.master_restarts_max; ++i) {
    CAPTURE(i);
    REQUIRE(cluster.run_until_running(4));
    const auto before = cluster.client->status(*job)->last_checkpoint;
    for (int k = 0; k < 100 && cluster.client->status(*job)->last_checkpoint < before + 2; ++k)
      cluster.node->advance(milliseconds(100));
    const auto newest = cluster.client->status(*job)->last_checkpoint;
    REQUIRE(kill_master());
    cluster.kill(cluster.executors.back()); // task executors let go of what a lost master has
    cluster.add_executor(2);
    cluster.node->advance(milliseconds(1'000));
    REQUIRE(cluster.run_until_running(4));
    REQUIRE(cluster.wait_for(*job, "running"));
    CHECK(cluster.client->status(*job)->restored_checkpoint >= newest);
  }
  REQUIRE(kill_master());
  CHECK(cluster.wait_for(*job, "failed"));
  const auto end = cluster.client->wait(*job);
  REQUIRE(end);
  CHECK(end->failure.message.find("job master ended") != std::string::npos);
}

TEST_CASE("stored jobs that cannot be read in a moment are read again") {
  for (const bool lists : {true, false}) {
    CAPTURE(lists);
    testing_cluster cluster;
    cluster.add_executor(2);
    const auto job = cluster.client->submit(source_to_sink(2, 4).job());
    REQUIRE(cluster.run_until_running(4));
    cluster.node->kill(cluster.dispatcher);
    cluster.node->run(100'000);

    cluster.start_dispatcher(std::make_shared<slow_to_wake_store>(
        make_file_job_store(*cluster.files, cluster.directory() / "jobs"), 5, lists));
    cluster.client =
        std::make_unique<job_client>(*cluster.node, cluster.dispatcher, cluster.blob_server);

    CHECK(cluster.wait_for(*job, "running"));
  }
}

TEST_CASE("a job whose newest checkpoint is away is refused, and runs on once that is back") {
  const auto moved_away = [](const std::filesystem::path& newest) {
    const auto job = newest.parent_path();
    std::filesystem::rename(job, job.string() + ".away");
    return [job] { std::filesystem::rename(job.string() + ".away", job); };
  };
  const auto without_manifest = [](const std::filesystem::path& newest) {
    std::filesystem::rename(newest / "_metadata", newest / "away");
    return [newest] { std::filesystem::rename(newest / "away", newest / "_metadata"); };
  };
  const auto changed = [](const std::filesystem::path& newest) {
    const auto change = [manifest = newest / "_metadata"] {
      std::fstream file(manifest, std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(20);
      const auto was = static_cast<char>(file.get());
      file.seekp(20);
      file.put(static_cast<char>(was ^ 1));
    };
    change();
    return change;
  };
  using spoil = std::function<std::function<void()>(const std::filesystem::path&)>;
  for (const spoil& each : {spoil(moved_away), spoil(without_manifest), spoil(changed)}) {
    testing_cluster cluster;
    cluster.add_executor(2);
    auto sample = source_to_sink(2, 4);
    sample.job().checkpoints = every(500);
    sample.job().checkpoints.retained = 3;
    const auto job = cluster.client->submit(sample.job());
    REQUIRE(cluster.run_until([&] { return cluster.tasks.completed.contains(4); }));
    const std::filesystem::path newest = cluster.client->status(*job)->last_checkpoint_path;
    const auto newest_id = *cluster.tasks.completed.rbegin();
    lose(cluster);
    const auto repair = each(newest);

    restart(cluster);

    REQUIRE(cluster.wait_for(*job, "failed"));
    const auto why = to_string(cluster.client->wait(*job)->failure);
    CHECK(why.find(newest.string()) != std::string::npos);
    CHECK(why.find("start the job manager again") != std::string::npos);
    CHECK(cluster.tasks.running.empty());

    repair();
    restart(cluster);
    REQUIRE(cluster.run_until([&] { return !cluster.tasks.running.empty(); }));
    CHECK(cluster.tasks.running.begin()->second.restored == newest_id);
  }
}

TEST_CASE("a refused job is given up by canceling it") {
  testing_cluster cluster;
  cluster.add_executor(2);
  auto sample = source_to_sink(2, 4);
  sample.job().checkpoints = every(500);
  const auto job = cluster.client->submit(sample.job());
  REQUIRE(cluster.run_until([&] { return cluster.tasks.completed.contains(2); }));
  lose(cluster);
  std::filesystem::remove_all(cluster.directory() / "checkpoints");
  restart(cluster);
  REQUIRE(cluster.wait_for(*job, "failed"));

  CHECK(cluster.client->cancel(*job));
  restart(cluster);

  CHECK(cluster.state_of(*job) == "failed");
  for (const auto& entry : std::filesystem::directory_iterator(cluster.directory() / "jobs"))
    CHECK(entry.path().extension() == ".ended");
}

TEST_CASE("checkpoints that were retained before a restart do not outlive the job") {
  testing_cluster cluster;
  cluster.add_executor(2);
  auto sample = source_to_sink(2, 4);
  sample.job().checkpoints = every(500);
  sample.job().checkpoints.retained = 3;
  const auto job = cluster.client->submit(sample.job());
  const auto own = cluster.directory() / "checkpoints" / to_string(*job);
  checkpoint_id last = 4;
  for (int restarts = 0; restarts < 3; ++restarts, last += 2) {
    REQUIRE(cluster.run_until([&] { return cluster.tasks.completed.contains(last); }));
    lose(cluster);
    restart(cluster);
  }
  REQUIRE(cluster.run_until([&] { return cluster.tasks.completed.contains(last); }));
  cluster.node->run(100'000);
  std::size_t kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator(own))
    kept += std::filesystem::exists(entry.path() / "_metadata") ? 1 : 0;
  CHECK(kept == 3);

  cluster.finish(*job);
  REQUIRE(cluster.client->wait(*job)->state == job_state::finished);
  cluster.node->run(100'000);
  CHECK(!std::filesystem::exists(own));
}

TEST_CASE("who asks before the stored jobs are read gets an answer once they are") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(testing::seed());
    CAPTURE(seed);
    testing_cluster cluster(testing::seed() + seed);
    const auto job = cluster.client->submit(source_to_sink(2, 4).job());
    REQUIRE(job);

    restart(cluster);

    CHECK(cluster.client->status(*job));
    CHECK(cluster.client->list()->view()->getJobs().size() == 1);
  }
}

TEST_SUITE_END();

} // namespace headrace::scheduler
