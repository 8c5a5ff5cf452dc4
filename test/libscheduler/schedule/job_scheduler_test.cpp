#include "libscheduler/schedule/job_scheduler.hpp"

#include "test/libscheduler/sample_graph.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <set>

namespace headrace::scheduler {

using testing::sample_graph;

namespace {

/// Carries out what a job scheduler wants, with slots and task executors that exist in the mind.
class imagined_cluster {
public:
  explicit imagined_cluster(const sample_graph& sample, std::uint64_t seed = 1)
      : random_(make_seeded_random(seed)),
        scheduler(*execution_graph::build(sample.share()), *random_) {}

  /// Carries actions out until there are none. Restores and slots are answered at once unless held.
  void settle() {
    for (auto actions = scheduler.take_actions(); !actions.empty();
         actions = scheduler.take_actions()) {
      for (auto& action : actions)
        std::visit([&](auto& what) { carry_out(what); }, action);
    }
  }
  void report(task_index task, task_state state, const error& failure = {}) {
    const auto attempt = scheduler.graph().current(task).id;
    const auto legal = scheduler.on_task_state(attempt, state, failure, now_ms);
    CHECK(legal.has_value());
    settle();
  }
  void run_all() {
    for (task_index task = 0; task < scheduler.graph().task_count(); ++task) {
      report(task, task_state::initializing);
      report(task, task_state::running);
    }
  }
  void end_canceling() {
    for (task_index task = 0; task < scheduler.graph().task_count(); ++task) {
      if (scheduler.graph().current(task).state == task_state::canceling)
        report(task, task_state::canceled);
    }
  }
  job_state state() const { return scheduler.graph().state(); }
  std::int32_t count(task_state state) const { return scheduler.graph().count_of(state); }

private:
  void carry_out(const want_slots& what) {
    wants.push_back(what.shared_slots);
    if (hold_slots)
      return;
    std::vector<slot_assignment> assigned;
    for (const auto slot : what.shared_slots) {
      const auto id = static_cast<std::uint64_t>(slot) + 1;
      assigned.push_back({slot, {{1, id}, {2, 1 + id % executors}, {}}});
    }
    scheduler.on_slots_assigned(assigned);
  }
  void carry_out(const release_slots& what) {
    released.insert(what.shared_slots.begin(), what.shared_slots.end());
  }
  void carry_out(const restore_tasks& what) {
    restores.push_back(what);
    if (!hold_restores)
      scheduler.on_restored(what.epoch, {}, now_ms);
  }
  void carry_out(const deploy_task& what) {
    const auto attempt = scheduler.graph().current(what.task).id;
    CHECK(deployed.insert(attempt).second);
    CHECK(!scheduler.graph().current(what.task).slot.allocation.is_none());
  }
  void carry_out(const cancel_task& what) {
    CHECK(canceled.insert(scheduler.graph().current(what.task).id).second);
  }
  void carry_out(const restart_later& what) { due_ms.push_back(now_ms + what.delay_ms); }
  void carry_out(const task_changed&) {}
  void carry_out(const job_changed& what) { states.push_back(what.to); }

public:
  std::unique_ptr<random_source> random_;
  job_scheduler scheduler;
  std::int64_t now_ms = 1'000'000'000;
  bool hold_slots = false;
  bool hold_restores = false;
  std::uint64_t executors = 2;
  std::vector<std::vector<std::int32_t>> wants;
  std::set<std::int32_t> released;
  std::vector<restore_tasks> restores;
  std::set<execution_attempt_id> deployed;
  std::set<execution_attempt_id> canceled;
  std::deque<std::int64_t> due_ms;
  std::vector<job_state> states;
};

sample_graph two_vertices(graph::partitioner_kind partitioner) {
  sample_graph sample;
  const auto source = sample.add("source", 2);
  const auto sink = sample.add("sink", 2);
  sample.connect(source, sink, partitioner);
  return sample;
}
const error broken(errc::user_function_failed, "it broke");

} // namespace

TEST_SUITE_BEGIN("scheduler/schedule/job_scheduler");

TEST_CASE("a job starts all its tasks, and is finished when all of them are") {
  imagined_cluster cluster(two_vertices(graph::partitioner_kind::hash));

  cluster.scheduler.begin();
  cluster.settle();
  CHECK(cluster.wants == std::vector<std::vector<std::int32_t>>{{0, 1}});
  CHECK(cluster.deployed.size() == 4);
  cluster.run_all();
  CHECK(cluster.count(task_state::running) == 4);
  for (task_index task = 0; task < 4; ++task)
    cluster.report(task, task_state::finished);

  CHECK(cluster.states == std::vector<job_state>{job_state::running, job_state::finished});
  CHECK(cluster.released == std::set<std::int32_t>{0, 1});
}

TEST_CASE("a failed task takes its region: canceled first, then started again as new attempts") {
  imagined_cluster cluster(two_vertices(graph::partitioner_kind::hash));
  cluster.scheduler.begin();
  cluster.settle();
  cluster.run_all();

  cluster.report(3, task_state::failed, broken);
  CHECK(cluster.state() == job_state::restarting);
  CHECK(cluster.canceled.size() == 3);
  CHECK(cluster.deployed.size() == 4);
  cluster.end_canceling();

  CHECK(cluster.state() == job_state::running);
  CHECK(cluster.deployed.size() == 8);
  CHECK(cluster.scheduler.restarts() == 1);
  CHECK(cluster.scheduler.newest_failure() == broken);
  CHECK(cluster.restores.back().is_whole_job);
  CHECK(!cluster.restores.back().is_first_start);
}

TEST_CASE("regions apart are not touched by a failure") {
  imagined_cluster cluster(two_vertices(graph::partitioner_kind::forward));
  cluster.scheduler.begin();
  cluster.settle();
  cluster.run_all();

  cluster.report(0, task_state::failed, broken);
  cluster.end_canceling();

  CHECK(cluster.restores.back().tasks == std::vector<task_index>{0, 2});
  CHECK(cluster.count(task_state::running) == 2);
  CHECK(cluster.count(task_state::deploying) == 2);
}

TEST_CASE("a refused restart fails the job with both reasons") {
  auto sample = two_vertices(graph::partitioner_kind::hash);
  sample.job().restart.kind = graph::restart_kind::none;
  imagined_cluster cluster(sample);
  cluster.scheduler.begin();
  cluster.settle();
  cluster.run_all();

  cluster.report(0, task_state::failed, broken);
  CHECK(cluster.state() == job_state::failing);
  cluster.end_canceling();

  CHECK(cluster.state() == job_state::failed);
  CHECK(cluster.scheduler.newest_failure().code == errc::job_failed);
  CHECK(cluster.scheduler.newest_failure().has(errc::user_function_failed));
}

TEST_CASE("a delayed restart waits for its time") {
  auto sample = two_vertices(graph::partitioner_kind::hash);
  sample.job().restart.kind = graph::restart_kind::fixed_delay;
  sample.job().restart.delay_ms = 500;
  imagined_cluster cluster(sample);
  cluster.scheduler.begin();
  cluster.settle();
  cluster.run_all();
  cluster.report(0, task_state::failed, broken);
  cluster.end_canceling();
  CHECK(cluster.deployed.size() == 4);

  cluster.now_ms = cluster.due_ms.front();
  cluster.scheduler.on_restart_due(cluster.now_ms);
  cluster.settle();

  CHECK(cluster.deployed.size() == 8);
}

TEST_CASE("a lost task executor is one failure, however many tasks it ran") {
  auto sample = two_vertices(graph::partitioner_kind::forward);
  sample.job().restart.kind = graph::restart_kind::fixed_delay;
  sample.job().restart.attempts = 1;
  sample.job().restart.delay_ms = 0;
  imagined_cluster cluster(sample);
  cluster.executors = 1;
  cluster.scheduler.begin();
  cluster.settle();
  cluster.run_all();

  cluster.scheduler.on_executor_lost({2, 1}, {errc::task_executor_lost, "gone"}, cluster.now_ms);
  cluster.settle();

  CHECK(cluster.state() == job_state::running);
  CHECK(cluster.deployed.size() == 8);
}

TEST_CASE("a canceled job ends all its tasks, whatever they do meanwhile") {
  imagined_cluster cluster(two_vertices(graph::partitioner_kind::hash));
  cluster.scheduler.begin();
  cluster.settle();
  cluster.run_all();

  cluster.scheduler.cancel();
  cluster.settle();
  CHECK(cluster.state() == job_state::cancelling);
  cluster.report(0, task_state::finished);
  cluster.report(1, task_state::failed, broken);
  cluster.end_canceling();

  CHECK(cluster.state() == job_state::canceled);
}

TEST_CASE("a job without slots fails at first, and only restarts later") {
  imagined_cluster cluster(two_vertices(graph::partitioner_kind::hash));
  const error late(errc::not_enough_slots, "none");
  cluster.hold_slots = true;
  cluster.scheduler.begin();
  cluster.settle();

  cluster.scheduler.on_slots_unavailable(late, cluster.now_ms);
  cluster.settle();

  CHECK(cluster.state() == job_state::failed);
  CHECK(cluster.scheduler.newest_failure() == late);
}

TEST_CASE("a first checkpoint that cannot be restored fails the job") {
  imagined_cluster cluster(two_vertices(graph::partitioner_kind::hash));
  cluster.hold_restores = true;
  cluster.scheduler.begin();
  cluster.settle();

  cluster.scheduler.on_restored(cluster.restores.at(0).epoch,
                                error(errc::corrupt_snapshot, "chk-7"), cluster.now_ms);
  cluster.settle();

  CHECK(cluster.state() == job_state::failed);
  CHECK(cluster.deployed.empty());
}

TEST_CASE("words of an older attempt are not heard") {
  imagined_cluster cluster(two_vertices(graph::partitioner_kind::hash));
  cluster.scheduler.begin();
  cluster.settle();
  const auto old = cluster.scheduler.graph().current(0).id;
  cluster.run_all();
  cluster.report(3, task_state::failed, broken);
  cluster.end_canceling();

  CHECK(cluster.scheduler.on_task_state(old, task_state::failed, broken, 0).has_value());
  cluster.settle();

  CHECK(cluster.scheduler.graph().current(0).state == task_state::deploying);
  CHECK(cluster.scheduler.restarts() == 1);
}

TEST_CASE("tasks that end by themselves, as those of a job master held for lost, start again") {
  imagined_cluster cluster(two_vertices(graph::partitioner_kind::hash));
  cluster.scheduler.begin();
  cluster.settle();
  cluster.run_all();

  for (task_index task = 0; task < 4; ++task)
    cluster.report(task, task_state::canceling);
  CHECK(cluster.count(task_state::canceled) == 0);
  for (task_index task = 0; task < 4; ++task)
    cluster.report(task, task_state::canceled);

  CHECK(cluster.state() == job_state::running);
  CHECK(cluster.count(task_state::deploying) == 4);
  CHECK(cluster.scheduler.restarts() == 1);
}

TEST_CASE("a restart counts once, from its cause until the job runs again") {
  imagined_cluster cluster(two_vertices(graph::partitioner_kind::hash));
  cluster.scheduler.begin();
  cluster.settle();
  cluster.run_all();

  cluster.report(3, task_state::failed, broken);
  CHECK(cluster.state() == job_state::restarting);
  CHECK(cluster.scheduler.restarts() == 1);
  cluster.end_canceling();

  CHECK(cluster.state() == job_state::running);
  CHECK(cluster.scheduler.restarts() == 1);
}

TEST_CASE("a task that turns back is an illegal transition") {
  imagined_cluster cluster(two_vertices(graph::partitioner_kind::hash));
  cluster.scheduler.begin();
  cluster.settle();
  cluster.run_all();

  const auto legal = cluster.scheduler.on_task_state(cluster.scheduler.graph().current(0).id,
                                                     task_state::deploying, {}, 0);

  REQUIRE(!legal.has_value());
  CHECK(legal.error().code == errc::illegal_transition);
}

TEST_CASE("whatever fails on the way, a job ends finished once nothing fails any more") {
  for (std::uint64_t round = 0; round < 200; ++round) {
    CAPTURE(testing::seed());
    CAPTURE(round);
    auto random = make_seeded_random(testing::seed() + round);
    sample_graph sample;
    const auto source = sample.add("source", 1 + static_cast<std::int32_t>(random->below(4)));
    const auto map = sample.add("map", sample.at(source).parallelism);
    const auto sink = sample.add("sink", 1 + static_cast<std::int32_t>(random->below(4)));
    sample.connect(source, map, graph::partitioner_kind::forward);
    sample.connect(map, sink,
                   random->below(2) == 0 ? graph::partitioner_kind::rescale
                                         : graph::partitioner_kind::hash);
    sample.job().region_failover = random->below(4) != 0;
    imagined_cluster cluster(sample, random->next());
    const auto& graph = cluster.scheduler.graph();
    cluster.scheduler.begin();
    cluster.settle();

    for (int step = 0; step < 400 && !is_terminal(cluster.state()); ++step) {
      const auto task =
          static_cast<task_index>(random->below(static_cast<std::uint64_t>(graph.task_count())));
      const auto& attempt = graph.current(task);
      const bool may_fail = step < 200;
      cluster.now_ms += static_cast<std::int64_t>(random->below(50));
      switch (random->below(may_fail ? 9 : 6)) {
      case 0:
      case 1:
      case 2:
        if (attempt.state == task_state::deploying)
          cluster.report(task, task_state::initializing);
        else if (attempt.state == task_state::initializing)
          cluster.report(task, task_state::running);
        else if (attempt.state == task_state::canceling)
          cluster.report(task, random->below(2) == 0 ? task_state::canceled : task_state::failed);
        break;
      case 3:
        if (attempt.state == task_state::running && (!may_fail || random->below(4) == 0))
          cluster.report(task, task_state::finished);
        break;
      case 4:
      case 5:
        if (!cluster.due_ms.empty()) {
          cluster.now_ms = std::max(cluster.now_ms, cluster.due_ms.front());
          cluster.due_ms.pop_front();
          cluster.scheduler.on_restart_due(cluster.now_ms);
          cluster.settle();
        }
        break;
      case 6:
        if (attempt.state == task_state::running || attempt.state == task_state::deploying)
          cluster.report(task, task_state::failed, broken);
        break;
      case 7:
        if (random->below(5) == 0) {
          cluster.scheduler.on_executor_lost({2, 1 + random->below(2)},
                                             {errc::task_executor_lost, "gone"}, cluster.now_ms);
          cluster.settle();
        }
        break;
      case 8: // its task executor has given the job master up
        if (is_deployed(attempt.state) && random->below(3) == 0) {
          const auto ended = attempt.id;
          cluster.report(task, task_state::canceling);
          if (graph.current(task).id == ended && !is_terminal(graph.current(task).state))
            cluster.report(task, task_state::canceled);
        }
        break;
      default:
        break;
      }
    }
    for (int pass = 0; pass < 200 && !is_terminal(cluster.state()); ++pass) {
      for (task_index task = 0; task < graph.task_count(); ++task) {
        const auto state = graph.current(task).state;
        if (state == task_state::canceling)
          cluster.report(task, task_state::canceled);
        else if (state == task_state::deploying || state == task_state::initializing)
          cluster.report(task, task_state::running);
        else if (state == task_state::running)
          cluster.report(task, task_state::finished);
      }
      cluster.now_ms += 100'000;
      cluster.scheduler.on_restart_due(cluster.now_ms);
      cluster.settle();
    }
    CHECK(cluster.state() == job_state::finished);
  }
}

TEST_SUITE_END();

} // namespace headrace::scheduler
