#include "libscheduler/checkpoint/checkpoint_coordinator.hpp"

#include "test/libscheduler/sample_graph.hpp"
#include "test/support/seed.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace headrace::scheduler {

using testing::sample_graph;

namespace {

constexpr operator_id source_operator{2, 1};

/// A job of two tasks with a coordinated source, and what the coordinator wanted last.
struct fixture {
  explicit fixture(graph::checkpoint_spec spec = with_interval(1000)) {
    const auto source = sample.add("source", 1);
    const auto sink = sample.add("sink", 1);
    sample.connect(source, sink);
    sample.job().checkpoints = spec;
    first = {sample.at(source).id, 0, 0};
    second = {sample.at(sink).id, 0, 0};
    coordinator.emplace(sample.share(), std::vector<operator_id>{source_operator}, 0);
  }
  static graph::checkpoint_spec with_interval(std::int64_t interval_ms) {
    graph::checkpoint_spec spec;
    spec.interval_ms = interval_ms;
    spec.timeout_ms = 500;
    return spec;
  }
  checkpoint_plan plan() const { return {{{first, {}}}, {{first, {}}, {second, {}}}, false}; }

  /// The actions since the last call; those of one kind.
  template <class Action>
  std::vector<Action> take() {
    for (auto& action : coordinator->take_actions())
      actions.push_back(std::move(action));
    std::vector<Action> found;
    std::erase_if(actions, [&](const checkpoint_action& action) {
      if (const auto* one = std::get_if<Action>(&action))
        found.push_back(*one);
      return std::holds_alternative<Action>(action);
    });
    return found;
  }
  void ask(std::uint64_t number, graph::savepoint_stop stop, std::int64_t now) {
    coordinator->request(
        {number, std::make_shared<const graph::savepoint_order>(
                     graph::savepoint_order{"/savepoints/" + std::to_string(number), false, stop})},
        now);
  }
  void begin(std::int64_t now) {
    coordinator->poll(now);
    REQUIRE(take<plan_tasks>().size() == 1);
    coordinator->on_plan(plan(), now);
    id = take<prepare_storage>().at(0).checkpoint;
  }
  void trigger(std::int64_t now) {
    begin(now);
    coordinator->on_prepared(id, {}, now);
    REQUIRE(take<snapshot_coordinators>().size() == 1);
    coordinator->on_coordinator_snapshot(id, source_operator, byte_string("splits"), now);
    REQUIRE(take<trigger_tasks>().size() == 1);
  }
  void complete(std::int64_t now) {
    trigger(now);
    coordinator->on_acknowledged(id, first, {}, now);
    coordinator->on_acknowledged(id, second, {}, now);
    REQUIRE(take<store_checkpoint>().size() == 1);
    coordinator->on_stored(id, {}, now);
    REQUIRE(take<announce_completed>().size() == 1);
  }

  sample_graph sample;
  execution_attempt_id first;
  execution_attempt_id second;
  std::optional<checkpoint_coordinator> coordinator;
  checkpoint_id id = 0;
  std::vector<checkpoint_action> actions;
};

} // namespace

TEST_SUITE("scheduler/checkpoint/checkpoint_coordinator") {

TEST_CASE("coordinators are snapshotted before sources are triggered") {
  fixture f;
  f.coordinator->poll(999);
  CHECK(f.take<plan_tasks>().empty());

  f.begin(1000);
  f.coordinator->on_prepared(f.id, {}, 1000);
  CHECK(f.take<snapshot_coordinators>().size() == 1);
  CHECK(f.take<trigger_tasks>().empty());
  f.coordinator->on_coordinator_snapshot(f.id, source_operator, byte_string("splits"), 1001);

  const auto trigger = f.take<trigger_tasks>();
  REQUIRE(trigger.size() == 1);
  CHECK(trigger[0].checkpoint == 1);
  CHECK(trigger[0].tasks.size() == 1);
}

TEST_CASE("master hooks are called behind the coordinators and before the sources") {
  auto spec = fixture::with_interval(1000);
  spec.master_hooks = {{"ledger", 3}};
  fixture f(spec);
  const auto reach_hooks = [&](std::int64_t now) {
    f.begin(now);
    f.coordinator->on_prepared(f.id, {}, now);
    f.coordinator->on_coordinator_snapshot(f.id, source_operator, byte_string("splits"), now);
    const auto called = f.take<trigger_hooks>();
    REQUIRE(called.size() == 1);
    CHECK(called[0].checkpoint == f.id);
    CHECK(f.take<trigger_tasks>().empty());
    CHECK(f.coordinator->awaits_hooks(f.id));
  };

  reach_hooks(1000);
  f.coordinator->on_hooks(f.id, byte_string("states"), 1010);
  CHECK(!f.coordinator->awaits_hooks(f.id));
  CHECK(f.take<trigger_tasks>().size() == 1);
  f.coordinator->on_acknowledged(f.id, f.first, {}, 1020);
  f.coordinator->on_acknowledged(f.id, f.second, {}, 1020);
  const auto stored = f.take<store_checkpoint>();
  REQUIRE(stored.size() == 1);
  CHECK(stored[0].checkpoint->master_hooks == "states");
  f.coordinator->on_stored(f.id, {}, 1030);

  reach_hooks(2000);
  f.coordinator->on_hooks(f.id, error(errc::user_function_failed, "ledger is closed"), 2010);
  const auto aborted = f.take<announce_aborted>();
  REQUIRE(aborted.size() == 1);
  CHECK(aborted[0].reason.has(errc::user_function_failed));
  CHECK(f.take<trigger_tasks>().empty());
}

TEST_CASE(
    "a checkpoint whose master hook does not return expires, and what comes late is dropped") {
  auto spec = fixture::with_interval(1000);
  spec.master_hooks = {{"ledger", 3}};
  fixture f(spec);
  f.begin(1000);
  f.coordinator->on_prepared(f.id, {}, 1000);
  f.coordinator->on_coordinator_snapshot(f.id, source_operator, byte_string("splits"), 1000);
  f.coordinator->poll(1500);
  const auto aborted = f.take<announce_aborted>();
  REQUIRE(aborted.size() == 1);
  CHECK(aborted[0].reason.code == errc::checkpoint_expired);
  CHECK(!f.coordinator->awaits_hooks(f.id));

  f.coordinator->on_hooks(f.id, byte_string("late"), 1600);
  CHECK(f.take<trigger_tasks>().empty());
}

TEST_CASE("a requested checkpoint begins at once, or behind the pending one, and is answered") {
  fixture f(fixture::with_interval(0));
  f.coordinator->request(10);
  f.trigger(10);
  f.coordinator->on_acknowledged(f.id, f.first, {}, 20);
  f.coordinator->on_acknowledged(f.id, f.second, {}, 20);
  CHECK(f.take<answer_request>().empty());
  f.coordinator->on_stored(f.id, {}, 30);
  const auto lasting = f.take<answer_request>();
  REQUIRE(lasting.size() == 1);
  CHECK(lasting[0].checkpoint == 1);
  CHECK(lasting[0].failure.code == errc::none);

  fixture behind;
  behind.trigger(1000);
  behind.coordinator->request(1010);
  behind.coordinator->on_acknowledged(behind.id, behind.first, {}, 1100);
  behind.coordinator->on_acknowledged(behind.id, behind.second, {}, 1100);
  behind.coordinator->on_stored(behind.id, {}, 1200);
  CHECK(behind.take<answer_request>().empty());
  CHECK(behind.take<plan_tasks>().size() == 1); // the next one has begun
}

TEST_CASE("a requested checkpoint waits for tasks to run; its failure counts for nobody else") {
  fixture f(fixture::with_interval(0));
  f.coordinator->request(10);
  REQUIRE(f.take<plan_tasks>().size() == 1);
  f.coordinator->on_plan(error(errc::checkpoint_declined, "task does not run"), 10);
  REQUIRE(f.coordinator->next_deadline_ms());
  f.trigger(*f.coordinator->next_deadline_ms());

  f.coordinator->poll(10'000);

  const auto failed = f.take<answer_request>();
  REQUIRE(failed.size() == 1);
  CHECK(failed[0].failure.code == errc::checkpoint_expired);
  CHECK(f.take<give_up>().empty());

  f.coordinator->stop({errc::checkpoint_declined, "job is over"});
  f.coordinator->request(10'001);
  CHECK(f.take<answer_request>().at(0).failure.code == errc::checkpoint_declined);
}

TEST_CASE("a savepoint is taken beside the checkpoints, and changes nothing for them") {
  fixture f;
  f.ask(7, graph::savepoint_stop::none, 300);
  f.trigger(300);
  f.coordinator->on_acknowledged(f.id, f.first, {}, 400);
  f.coordinator->on_acknowledged(f.id, f.second, {}, 400);
  const auto stored = f.take<store_checkpoint>();
  REQUIRE(stored.size() == 1);
  CHECK(stored[0].checkpoint->kind == state::checkpoint_kind::savepoint);
  CHECK(stored[0].checkpoint->directory == "/savepoints/7");
  f.coordinator->on_stored(f.id, {}, 500);

  CHECK(f.take<announce_completed>().empty()); // no restart begins with it
  const auto answers = f.take<answer_savepoint>();
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].number == 7);
  CHECK(answers[0].failure.code == errc::none);
  CHECK(f.coordinator->next_deadline_ms() == 1000);
  f.complete(1000);
}

TEST_CASE("savepoints are taken one after the other, and a failed one fails nothing else") {
  fixture f;
  f.trigger(1000);
  f.ask(1, graph::savepoint_stop::none, 1010);
  f.ask(2, graph::savepoint_stop::none, 1020);
  CHECK(f.take<plan_tasks>().empty());
  f.coordinator->on_declined(f.id, f.first, error(errc::checkpoint_declined, "not now"), 1100);
  f.take<announce_aborted>();
  REQUIRE(f.take<plan_tasks>().size() == 1);
  f.coordinator->on_plan(f.plan(), 1100);
  CHECK(f.take<prepare_storage>().at(0).savepoint->directory == "/savepoints/1");

  f.coordinator->poll(1510); // it waited, too

  CHECK(f.take<announce_aborted>().at(0).savepoint != nullptr);
  CHECK(f.take<answer_savepoint>().at(0).failure.code == errc::checkpoint_expired);
  CHECK(f.take<give_up>().empty());
  REQUIRE(f.take<plan_tasks>().size() == 1);
  f.coordinator->on_plan(f.plan(), 1510);
  CHECK(f.take<prepare_storage>().at(0).savepoint->directory == "/savepoints/2");
}

TEST_CASE("a savepoint for which tasks never run ends in time, and there are not too many") {
  fixture f;
  f.ask(1, graph::savepoint_stop::none, 0);
  REQUIRE(f.take<plan_tasks>().size() == 1);
  f.coordinator->on_plan(error(errc::checkpoint_declined, "not yet"), 0);
  f.coordinator->poll(500);
  CHECK(f.take<answer_savepoint>().at(0).failure.code == errc::checkpoint_expired);

  f.trigger(1000);
  for (std::uint64_t number = 0; number <= checkpoint_coordinator::waiting_savepoints_max; ++number)
    f.ask(number, graph::savepoint_stop::none, 1000);
  CHECK(f.take<answer_savepoint>().at(0).failure.code == errc::checkpoint_declined);
}

TEST_CASE("behind a savepoint that ends the job no checkpoint is begun, unless tasks start again") {
  fixture f;
  f.ask(1, graph::savepoint_stop::suspend, 100);
  f.ask(2, graph::savepoint_stop::none, 100);
  f.trigger(100);
  f.coordinator->on_awaited(true, 110); // tasks whose input has ended wait for it, too
  f.coordinator->on_acknowledged(f.id, f.first, {}, 200);
  f.coordinator->on_acknowledged(f.id, f.second, {}, 200);
  REQUIRE(f.take<store_checkpoint>().size() == 1);
  f.coordinator->on_stored(f.id, {}, 300);

  CHECK(f.take<announce_completed>().size() == 1);
  const auto answers = f.take<answer_savepoint>();
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].failure.code == errc::none);
  CHECK(answers[1].failure.code == errc::checkpoint_declined);
  f.coordinator->poll(5000);
  CHECK(f.take<plan_tasks>().empty());
  CHECK(!f.coordinator->next_deadline_ms());

  f.coordinator->on_restart(5000);
  f.coordinator->poll(6000);
  CHECK(f.take<plan_tasks>().size() == 1);
}

TEST_CASE("a savepoint that fails after its sources have ended makes the job start again") {
  fixture f;
  f.ask(1, graph::savepoint_stop::drain, 100);
  f.trigger(100);
  f.coordinator->on_declined(f.id, f.second, error(errc::storage_full, "full"), 200);
  CHECK(f.take<answer_savepoint>().at(0).failure.has(errc::storage_full));
  CHECK(f.take<give_up>().size() == 1);

  fixture early;
  early.ask(1, graph::savepoint_stop::drain, 100);
  early.begin(100);
  early.coordinator->on_prepared(early.id, error(errc::storage_full, "full"), 200);
  CHECK(early.take<give_up>().empty());
}

TEST_CASE("a savepoint may be repeated when it failed as a task has finished meanwhile") {
  struct expected {
    graph::savepoint_stop stop;
    bool has_finished; ///< else the task failed
    bool is_repeated;
  };
  for (const auto& each : {expected{graph::savepoint_stop::none, true, true},
                           expected{graph::savepoint_stop::suspend, true, true},
                           expected{graph::savepoint_stop::drain, true, false},
                           expected{graph::savepoint_stop::none, false, false},
                           expected{graph::savepoint_stop::suspend, false, false}}) {
    CAPTURE(static_cast<int>(each.stop));
    CAPTURE(each.has_finished);
    fixture f;
    f.ask(1, each.stop, 100);
    f.trigger(100);

    f.coordinator->on_task_ended(f.second, each.has_finished, 200);

    const auto answer = f.take<answer_savepoint>().at(0);
    CHECK(answer.failure.has(errc::checkpoint_declined));
    CHECK(answer.may_be_repeated == each.is_repeated);
  }
}

TEST_CASE("all acknowledgements make a checkpoint of all states") {
  fixture f;
  f.trigger(1000);
  state::task_state_snapshot snapshot;
  snapshot.operators[source_operator].channels.push_back({{"file", 0, 10}});
  f.coordinator->on_acknowledged(f.id, f.first, snapshot, 1100);
  f.coordinator->on_acknowledged(f.id, f.first, {}, 1101); // twice counts once
  CHECK(f.take<store_checkpoint>().empty());
  f.coordinator->on_acknowledged(f.id, f.second, {}, 1200);

  const auto stored = f.take<store_checkpoint>();
  REQUIRE(stored.size() == 1);
  const auto& source = stored[0].checkpoint->operators.at(source_operator);
  CHECK(source.coordinator == "splits");
  CHECK(source.has_coordinator);
  CHECK(source.subtasks.size() == 1);
  f.coordinator->on_stored(f.id, {}, 1300);
  CHECK(f.take<announce_completed>().at(0).tasks.size() == 2);
  CHECK(f.coordinator->completed_count() == 1);
}

TEST_CASE("a checkpoint that takes too long expires, and a late word of it is dropped") {
  fixture f;
  f.trigger(1000);
  CHECK(f.coordinator->next_deadline_ms() == 1500);

  f.coordinator->poll(1500);
  const auto aborted = f.take<announce_aborted>();
  REQUIRE(aborted.size() == 1);
  CHECK(aborted[0].reason.code == errc::checkpoint_expired);
  CHECK(f.take<give_up>().size() == 1); // none is tolerated by default

  f.coordinator->on_acknowledged(f.id, f.first, {}, 1501);
  f.coordinator->on_acknowledged(f.id, f.second, {}, 1501);
  CHECK(f.take<store_checkpoint>().empty());
}

TEST_CASE("failures in a row are tolerated up to their number, and a success starts over") {
  auto spec = fixture::with_interval(1000);
  spec.tolerable_failures = 1;
  fixture f(spec);
  const auto expire = [&](std::int64_t at) {
    f.trigger(at);
    f.coordinator->poll(at + 500);
    CHECK(f.take<announce_aborted>().size() == 1);
  };

  expire(1000);
  f.complete(2000);
  expire(3000);
  CHECK(f.take<give_up>().empty());
  expire(4000);
  CHECK(f.take<give_up>().size() == 1);
}

TEST_CASE("storage that fails aborts the checkpoint, and the job goes on when that is tolerated") {
  auto spec = fixture::with_interval(1000);
  spec.tolerable_failures = -1;
  fixture f(spec);
  f.trigger(1000);
  f.coordinator->on_acknowledged(f.id, f.first, {}, 1000);
  f.coordinator->on_acknowledged(f.id, f.second, {}, 1000);
  REQUIRE(f.take<store_checkpoint>().size() == 1);

  f.coordinator->on_stored(f.id, error(errc::storage_full, "full"), 1100);

  CHECK(f.take<announce_aborted>().at(0).reason.has(errc::storage_full));
  CHECK(f.take<give_up>().empty());
}

TEST_CASE("a task that ends before it acknowledged aborts, without counting as a failure") {
  fixture f;
  f.trigger(1000);

  f.coordinator->on_task_ended(f.second, false, 1100);

  CHECK(f.take<announce_aborted>().size() == 1);
  CHECK(f.take<give_up>().empty());
}

TEST_CASE("a task that ends after it acknowledged changes nothing") {
  fixture f;
  f.trigger(1000);
  f.coordinator->on_acknowledged(f.id, f.first, {}, 1000);

  f.coordinator->on_task_ended(f.first, false, 1100);

  CHECK(f.take<announce_aborted>().empty());
}

TEST_CASE("when tasks start again, what they acknowledged before makes no checkpoint") {
  // Splits of theirs have gone back to the enumerator, and may be read by others when the rest
  // acknowledges: who restored that checkpoint would read them twice.
  fixture f;
  f.trigger(1000);
  f.coordinator->on_acknowledged(f.id, f.first, {}, 1000);
  f.coordinator->on_task_ended(f.first, false, 1100);

  f.coordinator->on_restart(1200);
  f.coordinator->on_acknowledged(f.id, f.second, {}, 1300);

  CHECK(f.take<announce_aborted>().size() == 1);
  CHECK(f.take<give_up>().empty());
  CHECK(f.take<store_checkpoint>().empty());
}

TEST_CASE("when tasks start again, a checkpoint that is being stored is what they go on from") {
  fixture f;
  f.trigger(1000);
  f.coordinator->on_acknowledged(f.id, f.first, {}, 1000);
  f.coordinator->on_acknowledged(f.id, f.second, {}, 1000);

  f.coordinator->on_restart(1100);
  f.coordinator->on_stored(f.id, {}, 1200);

  CHECK(f.take<announce_aborted>().empty());
  CHECK(f.take<announce_completed>().size() == 1);
}

TEST_CASE("a savepoint waits for the tasks that finish with the checkpoint before it") {
  fixture f;
  auto with_ending = f.plan();
  with_ending.acknowledge[1].awaits_checkpoint = true;
  f.coordinator->poll(1000);
  f.coordinator->on_plan(with_ending, 1000);
  f.coordinator->on_prepared(1, {}, 1000);
  f.coordinator->on_coordinator_snapshot(1, source_operator, byte_string("splits"), 1000);
  f.ask(1, graph::savepoint_stop::suspend, 1050);
  f.coordinator->on_acknowledged(1, f.first, {}, 1100);
  f.coordinator->on_acknowledged(1, f.second, {}, 1100);
  static_cast<void>(f.take<plan_tasks>());
  static_cast<void>(f.take<prepare_storage>());
  f.coordinator->on_stored(1, {}, 1100);
  REQUIRE(f.take<plan_tasks>().size() == 1);

  SUBCASE("until they have ended") {
    f.coordinator->on_plan(with_ending, 1100);
    CHECK(f.take<prepare_storage>().empty());
    f.coordinator->on_task_ended(f.second, false, 1110);
    REQUIRE(f.take<plan_tasks>().size() == 1);
    f.coordinator->on_plan(checkpoint_plan{{{f.first, {}}}, {{f.first, {}}}, false}, 1110);

    const auto begun = f.take<prepare_storage>();
    REQUIRE(begun.size() == 1);
    CHECK(begun[0].savepoint != nullptr);
    CHECK(f.take<answer_savepoint>().empty());
  }
  SUBCASE("but not for ever") {
    const auto late = 1100 + checkpoint_coordinator::finish_patience_ms;
    f.coordinator->on_plan(with_ending, late);

    CHECK(f.take<prepare_storage>().size() == 1);
  }
}

TEST_CASE("a task that does not finish for long holds up the checkpoints behind it once") {
  fixture f;
  auto with_ending = f.plan();
  with_ending.acknowledge[1].awaits_checkpoint = true;
  const auto complete = [&](std::int64_t now) {
    f.coordinator->poll(now);
    f.coordinator->on_plan(with_ending, now);
    const auto begun = f.take<prepare_storage>();
    REQUIRE(begun.size() == 1);
    f.id = begun[0].checkpoint;
    f.coordinator->on_prepared(f.id, {}, now);
    f.coordinator->on_coordinator_snapshot(f.id, source_operator, byte_string("splits"), now);
    f.coordinator->on_acknowledged(f.id, f.first, {}, now);
    f.coordinator->on_acknowledged(f.id, f.second, {}, now);
    f.coordinator->on_stored(f.id, {}, now);
  };
  const auto late = 1000 + checkpoint_coordinator::finish_patience_ms;
  complete(1000);
  complete(late);

  f.ask(1, graph::savepoint_stop::none, late + 1);
  f.coordinator->on_plan(with_ending, late + 1);

  CHECK(f.take<prepare_storage>().size() == 1);
}

TEST_CASE("as many checkpoints as are allowed are under way, and complete one by one") {
  auto spec = fixture::with_interval(100);
  spec.max_concurrent = 2;
  fixture f(spec);
  f.trigger(100);
  const auto first = f.id;
  CHECK(f.coordinator->next_deadline_ms() == 200);
  f.trigger(200);
  CHECK(f.id == first + 1);
  f.coordinator->poll(300);
  CHECK(f.take<plan_tasks>().empty()); // no third

  for (const auto id : {first, f.id}) {
    f.coordinator->on_acknowledged(id, f.first, {}, 310);
    f.coordinator->on_acknowledged(id, f.second, {}, 310);
    CHECK(f.take<store_checkpoint>().at(0).checkpoint->id == id);
  }
  CHECK(f.coordinator->is_storing());
  f.coordinator->on_stored(first, {}, 320);
  f.coordinator->on_stored(f.id, {}, 320);
  CHECK(f.take<announce_completed>().size() == 2);
  CHECK(f.take<announce_aborted>().empty());
  CHECK(f.coordinator->completed_count() == 2);
}

TEST_CASE("a checkpoint that completes subsumes older ones, and one that fails takes them along") {
  auto spec = fixture::with_interval(100);
  spec.max_concurrent = 3;
  spec.tolerable_failures = -1;
  fixture f(spec);
  f.trigger(100);
  f.trigger(200);
  f.coordinator->on_acknowledged(f.id, f.first, {}, 210);
  f.coordinator->on_acknowledged(f.id, f.second, {}, 210);
  f.coordinator->on_stored(f.id, {}, 220);
  const auto subsumed = f.take<announce_aborted>();
  REQUIRE(subsumed.size() == 1);
  CHECK(subsumed[0].checkpoint == f.id - 1);
  CHECK(subsumed[0].reason.code == errc::checkpoint_subsumed);

  f.trigger(300);
  f.trigger(400);
  f.coordinator->on_declined(f.id, f.second, error(errc::storage_failed, "no"), 410);
  CHECK(f.take<announce_aborted>().size() == 2);
  CHECK(f.coordinator->completed_count() == 1);
}

TEST_CASE("a savepoint, and a pause between checkpoints, suffer no other beside them") {
  auto spec = fixture::with_interval(100);
  spec.max_concurrent = 3;
  fixture f(spec);
  f.trigger(100);
  f.ask(7, graph::savepoint_stop::none, 110);
  f.coordinator->poll(300);
  CHECK(f.take<plan_tasks>().empty());
  f.coordinator->on_acknowledged(f.id, f.first, {}, 310);
  f.coordinator->on_acknowledged(f.id, f.second, {}, 310);
  f.coordinator->on_stored(f.id, {}, 310);
  CHECK(f.take<plan_tasks>().size() == 1); // the savepoint
  f.coordinator->on_plan(f.plan(), 310);
  f.coordinator->poll(500);
  CHECK(f.take<plan_tasks>().empty());

  spec.min_pause_ms = 1;
  fixture paused(spec);
  paused.trigger(100);
  paused.coordinator->poll(300);
  CHECK(paused.take<plan_tasks>().empty());
}

TEST_CASE("the pause after a checkpoint is kept") {
  auto spec = fixture::with_interval(100);
  spec.min_pause_ms = 300;
  fixture f(spec);
  f.complete(100);

  CHECK(f.coordinator->next_deadline_ms() == 400);
}

TEST_CASE("when all triggered tasks wait, a checkpoint begins at once, also behind a pending one") {
  fixture f;
  f.coordinator->on_awaited(false, 10);
  CHECK(f.take<plan_tasks>().empty());
  f.coordinator->on_awaited(true, 20);
  REQUIRE(f.take<plan_tasks>().size() == 1);
  f.coordinator->on_plan(f.plan(), 20);
  const auto pending = f.take<prepare_storage>().at(0).checkpoint;

  f.coordinator->on_awaited(true, 30);
  CHECK(f.take<plan_tasks>().empty());
  f.coordinator->on_prepared(pending, error(errc::storage_failed, "no"), 40);

  CHECK(f.take<plan_tasks>().size() == 1);
}

TEST_CASE("tasks that do not run yet are asked again soon") {
  fixture f;
  f.coordinator->poll(1000);
  REQUIRE(f.take<plan_tasks>().size() == 1);

  f.coordinator->on_plan(error(errc::checkpoint_declined, "not yet"), 1000);

  CHECK(f.coordinator->next_deadline_ms() == 1100);
  CHECK(f.take<announce_aborted>().empty());
}

TEST_CASE("ids go on after the restored checkpoint") {
  fixture f;
  f.coordinator->continue_after(41);
  f.begin(1000);
  CHECK(f.id == 42);
}

TEST_CASE("without an interval no checkpoint is taken") {
  fixture f(fixture::with_interval(0));
  f.coordinator->poll(1'000'000);
  CHECK(f.take<plan_tasks>().empty());
  CHECK(f.coordinator->next_deadline_ms() == std::nullopt);
}

TEST_CASE("a tolerated failure of the final checkpoint of a job without interval is made good") {
  auto spec = fixture::with_interval(0);
  spec.tolerable_failures = 1;
  fixture f(spec);
  auto plan = f.plan();
  plan.are_all_waiting = true;
  f.coordinator->on_awaited(true, 1000);
  REQUIRE(f.take<plan_tasks>().size() == 1);
  f.coordinator->on_plan(plan, 1000);
  f.coordinator->on_prepared(f.take<prepare_storage>().at(0).checkpoint,
                             error(errc::storage_full, "full"), 1000);
  REQUIRE(f.coordinator->next_deadline_ms());

  f.coordinator->poll(*f.coordinator->next_deadline_ms());
  REQUIRE(f.take<plan_tasks>().size() == 1);
  f.coordinator->on_plan(f.plan(), 1200); // its tasks have restarted, and read

  CHECK(f.take<prepare_storage>().empty());
  CHECK(f.coordinator->next_deadline_ms() == std::nullopt);
}

TEST_CASE("without an interval a final checkpoint that is given up is taken again") {
  // Whoever waits for it has said so, and says it no more.
  const auto wait = [](fixture& f) {
    auto plan = f.plan();
    plan.are_all_waiting = true;
    REQUIRE(f.take<plan_tasks>().size() == 1);
    f.coordinator->on_plan(plan, 1000);
    f.id = f.take<prepare_storage>().at(0).checkpoint;
    f.coordinator->on_prepared(f.id, {}, 1000);
    f.coordinator->on_coordinator_snapshot(f.id, source_operator, byte_string("splits"), 1000);
  };
  const error reason(errc::checkpoint_declined, "task is not running yet");
  enum class how : std::uint8_t { task_ended, declined, failed_savepoint };
  for (const auto each : {how::task_ended, how::declined, how::failed_savepoint}) {
    CAPTURE(static_cast<int>(each));
    fixture f(fixture::with_interval(0));
    if (each == how::failed_savepoint) {
      f.ask(1, graph::savepoint_stop::suspend, 1000);
      wait(f);
      f.coordinator->on_awaited(true, 1000); // the savepoint would hold the end
    } else {
      f.coordinator->on_awaited(true, 1000);
      wait(f);
    }

    if (each == how::task_ended)
      f.coordinator->on_task_ended(f.second, false, 1100);
    else
      f.coordinator->on_declined(f.id, f.second, reason, 1100);

    REQUIRE(f.coordinator->next_deadline_ms());
    f.coordinator->poll(*f.coordinator->next_deadline_ms());
    wait(f);
    f.coordinator->on_acknowledged(f.id, f.first, {}, 1300);
    f.coordinator->on_acknowledged(f.id, f.second, {}, 1300);
    CHECK(f.take<store_checkpoint>().size() == 1);
    CHECK(f.take<give_up>().empty());
  }
}

TEST_CASE("whatever happens, a checkpoint is completed only with all acknowledgements") {
  for (std::uint64_t round = 0; round < 300; ++round) {
    CAPTURE(testing::seed());
    CAPTURE(round);
    auto random = make_seeded_random(testing::seed() + round);
    auto spec = fixture::with_interval(50);
    spec.tolerable_failures = -1;
    fixture f(spec);
    std::int64_t now = 0;
    std::set<execution_attempt_id> acknowledged;
    checkpoint_id newest = 0;
    for (int step = 0; step < 200; ++step) {
      now += static_cast<std::int64_t>(random->below(40));
      f.coordinator->poll(now);
      for (const auto& action : f.coordinator->take_actions()) {
        if (std::holds_alternative<plan_tasks>(action))
          f.coordinator->on_plan(f.plan(), now);
        else if (const auto* prepare = std::get_if<prepare_storage>(&action)) {
          CHECK(prepare->checkpoint > newest);
          newest = prepare->checkpoint;
          acknowledged.clear();
        } else if (std::holds_alternative<store_checkpoint>(action))
          CHECK(acknowledged.size() == 2);
      }
      const auto& attempt = random->below(2) == 0 ? f.first : f.second;
      const checkpoint_id about = newest - static_cast<checkpoint_id>(random->below(2));
      switch (random->below(7)) {
      case 0:
        f.coordinator->on_prepared(about, {}, now);
        break;
      case 1:
        f.coordinator->on_coordinator_snapshot(about, source_operator, byte_string("s"), now);
        break;
      case 2:
      case 3:
      case 4:
        if (about == newest)
          acknowledged.insert(attempt);
        f.coordinator->on_acknowledged(about, attempt, {}, now);
        break;
      case 5:
        f.coordinator->on_stored(about, {}, now);
        break;
      default:
        if (random->below(4) == 0)
          f.coordinator->on_declined(about, attempt, error(errc::storage_failed, "no"), now);
        break;
      }
    }
  }
}

} // TEST_SUITE("scheduler/checkpoint/checkpoint_coordinator")

TEST_SUITE("scheduler/checkpoint/checkpoint_plan") {

TEST_CASE("finished tasks are left out, and who lost all producers is triggered") {
  sample_graph sample;
  const auto source = sample.add("source", 2);
  const auto map = sample.add("map", 2);
  const auto sink = sample.add("sink", 1);
  sample.connect(source, map, graph::partitioner_kind::forward);
  sample.connect(map, sink);
  auto graph = execution_graph::build(sample.share());
  const auto to = [&](task_index task, std::vector<task_state> states) {
    for (const auto state : states)
      REQUIRE(graph->change_task_state(task, state).has_value());
  };
  for (task_index task = 0; task < 4; ++task)
    to(task, {task_state::scheduled, task_state::deploying, task_state::running});

  CHECK(plan_checkpoint(*graph).error().code == errc::checkpoint_declined);
  to(4, {task_state::scheduled, task_state::deploying, task_state::running});
  CHECK(plan_checkpoint(*graph)->trigger.size() == 2);
  CHECK(plan_checkpoint(*graph)->acknowledge.size() == 5);

  to(0, {task_state::finished});
  auto plan = plan_checkpoint(*graph);
  REQUIRE(plan.has_value());
  CHECK(plan->acknowledge.size() == 4);
  REQUIRE(plan->trigger.size() == 2);
  CHECK(plan->trigger[0].attempt == graph->current(1).id);
  CHECK(plan->trigger[1].attempt == graph->current(2).id);
  CHECK(!plan->are_all_waiting);

  graph->note_checkpoint_awaited(1);
  graph->note_checkpoint_awaited(2);
  plan = plan_checkpoint(*graph);
  CHECK(plan->are_all_waiting);
  REQUIRE(plan->acknowledge.size() == 4);
  CHECK(plan->acknowledge[0].awaits_checkpoint);
  CHECK(plan->acknowledge[1].awaits_checkpoint);
  CHECK(!plan->acknowledge[2].awaits_checkpoint);

  for (const task_index task : {1, 2, 3, 4})
    to(task, {task_state::finished});
  CHECK(!plan_checkpoint(*graph).has_value());
}

} // TEST_SUITE("scheduler/checkpoint/checkpoint_plan")

} // namespace headrace::scheduler
