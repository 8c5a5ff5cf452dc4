#include "test/support/batches.hpp"
#include "test/support/chain_harness.hpp"
#include "test/support/seed.hpp"
#include "test/support/testing_connectors.hpp"
#include "test/support/testing_file_system.hpp"
#include "libtask/task/stream_task.hpp"
#include "libstate/checkpoint/checkpoint_storage.hpp"
#include "libactors/base/random.hpp"
#include "libactors/message/message.hpp"
#include "schema/source.capnp.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

// A coordinator that assigns a split behind its own part of a checkpoint has the split in it, as
// not assigned: the reader must not have it in its part as well, whatever it does meanwhile.

using namespace headrace;
using namespace headrace::task;
using namespace headrace::testing;
using graph::barrier;
using graph::barrier_alignment;
using split_ids = std::set<std::string>;

namespace {

class dropping_channel final : public exchange_channel {
public:
  taken add(graph::stream_element element) override { return {exchange_cost(element), {}}; }
  void flush(bool /*closes*/) override {}
};

/// A source whose splits hardly end, of whose work each turn does the least. Rows come when a test
/// runs the steps of the services, barriers when there is credit.
struct source_fixture {
  explicit source_fixture(std::uint64_t credit = 1U << 30U) {
    add_testing_source(connectors);
    stream_task::setup setup;
    setup.checkpointing = true;
    setup.turn_steps = 1;
    setup.time = &time;
    setup.metrics = &metrics;
    auto dealt = make_partitioner({});
    REQUIRE(dealt);
    setup.partitions.push_back(std::make_unique<result_partition>(std::move(*dealt), 1));
    task = std::make_unique<stream_task>(std::move(setup));
    graph::source_spec spec;
    spec.connector.name = "testing";
    spec.connector.options = {{"count", "1000000"}, {"batch", "100"}};
    auto vertex = vertex_of(spec, *number_type(), *number_type());
    vertex.operators[0].input_types.clear();
    vertex.outputs.push_back({{1, 1}, 0, -1, {}, {}});
    source = vertex.operators[0].id;
    const operator_context context{"t",   0,          1,        8,       0,       true,    time,
                                   files, connectors, services, metrics, nullptr, nullptr, {}};
    auto chain = operator_chain::make(vertex, make_operator_factories(), context, *task);
    REQUIRE(chain);
    task->set_chain(std::move(*chain));
    REQUIRE(task->chain().open());
    task->attach(0, 0, std::make_unique<dropping_channel>(), credit);
  }
  void assign(const std::string& split) {
    message_builder<schema::SourceEvent> event;
    event->initAddSplits().initSplits(1)[0].setId(split);
    const auto told = event.finish();
    const auto words = told.untyped().words().asChars();
    REQUIRE(task->on_event(source, byte_string(words.begin(), words.size())));
  }
  void turn() {
    auto took = task->turn();
    if (!took)
      FAIL(to_string(took.error()));
    while (auto taken = task->take_snapshot())
      snapshots[taken->id()] = splits_in(*taken);
  }
  void turns(int count = 20) {
    while (count-- > 0)
      turn();
  }
  /// Whether the reader has been told to read.
  bool has_begun_to_read() const { return !services.steps.empty(); }
  split_ids splits_in(begun_checkpoint& taken) {
    const auto storage = state::make_file_checkpoint_storage(files, "/checkpoints", job_id{1, 1});
    REQUIRE(storage->begin(taken.id()));
    auto target = storage->open(storage->directory(taken.id()), {{2, 2}, 0, 0});
    REQUIRE(target);
    const auto written = taken.snapshot->content->run(**target);
    REQUIRE(written);
    REQUIRE((*target)->finish());
    split_ids out;
    const auto part = written->operators.find(source);
    if (part == written->operators.end())
      return out;
    state::operator_state_backend stored;
    REQUIRE(stored.restore(part->second.managed, files));
    const auto list = stored.list("splits");
    REQUIRE(list);
    for (const auto& element : (*list)->elements())
      out.emplace(*byte_reader(element).get_bytes());
    return out;
  }

  manual_clock time;
  task_metrics metrics;
  testing_file_system files;
  graph::connector_registry connectors;
  testing_services services;
  operator_id source;
  std::unique_ptr<stream_task> task;
  std::map<checkpoint_id, split_ids> snapshots; ///< the splits in each that was taken
};

} // namespace

TEST_SUITE("task/task/source_checkpoint") {
TEST_CASE("a split that comes behind a trigger is in the next checkpoint") {
  source_fixture fixture;
  fixture.task->trigger({5, 0, {}});
  fixture.assign("a");
  fixture.turns();
  CHECK(fixture.has_begun_to_read());
  fixture.task->trigger({6, 0, {}});
  fixture.turns();

  CHECK(fixture.snapshots == std::map<checkpoint_id, split_ids>{{5, {}}, {6, {"a"}}});
}

TEST_CASE("a split that comes while the barrier is on its way to the source is behind it") {
  source_fixture fixture;
  fixture.task->trigger({5, 0, {}});
  fixture.turn(); // the barrier has been added, and nothing more
  CHECK(fixture.snapshots.empty());
  fixture.assign("a");
  fixture.turns();

  CHECK(fixture.snapshots == std::map<checkpoint_id, split_ids>{{5, {}}});
  CHECK(fixture.has_begun_to_read());
}

TEST_CASE("a split that comes between two triggers that wait is in the later one alone") {
  source_fixture fixture;
  fixture.assign("a");
  fixture.task->trigger({5, 0, {}});
  fixture.assign("b");
  fixture.task->trigger({6, 0, {}});
  fixture.assign("c");
  fixture.turns();
  fixture.task->trigger({7, 0, {}});
  fixture.turns();

  CHECK(fixture.snapshots ==
        std::map<checkpoint_id, split_ids>{{5, {"a"}}, {6, {"a", "b"}}, {7, {"a", "b", "c"}}});
}

TEST_CASE("a split that waits for a checkpoint that is given up is read") {
  source_fixture fixture;
  fixture.task->trigger({5, 0, {}});
  fixture.assign("a");
  CHECK_FALSE(fixture.has_begun_to_read());

  CHECK(fixture.task->abort_checkpoint(5));
  fixture.turns();

  CHECK(fixture.has_begun_to_read());
}

TEST_CASE("an event that is not the source's own is refused at once") {
  source_fixture fixture;
  CHECK(fixture.task->on_event({9, 9}, "a").error().code == errc::unknown_operator);
}

TEST_CASE("each snapshot has the splits that came before its trigger, whatever happens when") {
  for (int run = 0; run < testing::runs(200); ++run) {
    const auto seed = testing::seed() + static_cast<std::uint64_t>(run);
    CAPTURE(seed);
    const auto random = make_seeded_random(seed);
    source_fixture fixture(random->below(2) * 5000);
    const auto alignment =
        random->below(2) == 0 ? barrier_alignment::exactly_once : barrier_alignment::unaligned;
    std::map<checkpoint_id, split_ids> expected;
    split_ids assigned;
    checkpoint_id newest = 0;
    for (int step = 0; step < 80; ++step) {
      switch (random->below(8)) {
      case 0:
        fixture.task->trigger({++newest, 0, alignment});
        expected[newest] = assigned;
        break;
      case 1:
      case 2:
        assigned.insert(std::to_string(assigned.size()));
        fixture.assign(std::to_string(assigned.size() - 1));
        break;
      case 3:
        if (newest > 0 && random->below(4) == 0)
          CHECK(fixture.task->abort_checkpoint(newest));
        break;
      case 4:
        fixture.services.run_step(); // rows come
        break;
      case 5:
        fixture.task->add_credit(0, 0, random->below(3000));
        break;
      default:
        fixture.turn();
      }
    }
    fixture.task->add_credit(0, 0, 1U << 30U);
    fixture.turns(2000);
    fixture.task->trigger({++newest, 0, alignment});
    expected[newest] = assigned;
    fixture.turns(2000);

    REQUIRE(fixture.snapshots.contains(newest));
    for (const auto& [id, splits] : fixture.snapshots) {
      CAPTURE(id);
      REQUIRE(splits == expected.at(id));
    }
  }
}
} // TEST_SUITE("task/task/source_checkpoint")
