#include "libtask/task/stream_task.hpp"

#include "test/support/batches.hpp"
#include "test/support/chain_harness.hpp"
#include "test/support/testing_connectors.hpp"
#include "libstate/registry/state_backends.hpp"
#include "libactors/message/message.hpp"
#include "schema/source.capnp.h"

#include <doctest/doctest.h>

#include <numeric>
#include <optional>
#include <utility>
#include <vector>

using namespace headrace;
using namespace headrace::task;
using namespace headrace::testing;
using graph::barrier;
using graph::end_of_input;
using graph::stream_element;

namespace {

struct received {
  std::vector<stream_element> elements;
  bool closed = false;
  std::size_t rows() const {
    std::size_t count = 0;
    for (const auto& element : elements)
      if (const auto* batch = std::get_if<graph::record_batch>(&element))
        count += batch->size();
    return count;
  }
};

class recording_channel final : public exchange_channel {
public:
  explicit recording_channel(received& into) : into_(into) {}
  taken add(stream_element element) override {
    const auto cost = exchange_cost(element);
    into_.elements.push_back(std::move(element));
    return {cost, std::nullopt};
  }
  void flush(bool closes) override { into_.closed = into_.closed || closes; }

private:
  received& into_;
};

/// A projection between two channels and one consumer.
struct task_fixture {
  explicit task_fixture(bool checkpointing, std::shared_ptr<const task_memory> memory = nullptr,
                        std::optional<std::int64_t> watermark_ms = std::nullopt)
      : files(make_local_file_system()) {
    stream_task::setup setup;
    setup.channel_inputs = {0, 0};
    setup.checkpointing = checkpointing;
    setup.time = &time;
    setup.metrics = &metrics;
    setup.memory = std::move(memory);
    auto split = make_partitioner({});
    REQUIRE(split);
    setup.partitions.push_back(std::make_unique<result_partition>(std::move(*split), 1));
    task = std::make_unique<stream_task>(std::move(setup));
    auto vertex = vertex_of(graph::project_spec{{0}}, *number_type(), *number_type());
    vertex.outputs.push_back({{1, 1}, 0, -1, {}, {}});
    const operator_context context{"t",           0,       1,       8,          0,
                                   checkpointing, time,    *files,  connectors, services,
                                   metrics,       nullptr, nullptr, {}};
    auto chain = operator_chain::make(vertex, make_operator_factories(), context, *task);
    REQUIRE(chain);
    task->set_chain(std::move(*chain));
    const auto backend = state::make_state_backend("hashmap");
    REQUIRE(backend);
    state::task_state_snapshot from;
    from.operators[vertex.operators[0].id].watermark_ms = watermark_ms;
    state::local_first_files stored(*files, {}, {});
    REQUIRE(task->chain().restore(**backend, from, {}, stored));
    REQUIRE(task->chain().open());
  }
  std::vector<std::int64_t> take_watermarks() {
    std::vector<std::int64_t> marks;
    for (const auto& element : std::exchange(out.elements, {}))
      if (const auto* mark = std::get_if<graph::watermark>(&element))
        marks.push_back(mark->time_ms);
    return marks;
  }
  void attach(std::uint64_t credit = 1U << 20U) {
    task->attach(0, 0, std::make_unique<recording_channel>(out), credit);
  }
  /// Turns until it gives another result than `again`.
  turn_result run() {
    for (int turns = 0; turns < 10'000; ++turns) {
      auto left = task->turn();
      if (!left)
        FAIL(to_string(left.error()));
      if (*left != turn_result::again)
        return *left;
    }
    return turn_result::again;
  }
  manual_clock time;
  task_metrics metrics;
  std::unique_ptr<headrace::file_system> files;
  graph::connector_registry connectors;
  testing_services services;
  received out;
  std::unique_ptr<stream_task> task;
};

std::vector<std::int64_t> counting(std::int64_t count) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

/// A source that waits for splits nobody assigns, once it has read the one that it is given.
struct source_fixture {
  source_fixture() : files(make_local_file_system()) {
    add_testing_source(connectors);
    stream_task::setup setup;
    setup.checkpointing = true;
    setup.time = &time;
    setup.metrics = &metrics;
    auto split = make_partitioner({});
    REQUIRE(split);
    setup.partitions.push_back(std::make_unique<result_partition>(std::move(*split), 1));
    task = std::make_unique<stream_task>(std::move(setup));
    graph::source_spec spec;
    spec.connector.name = "testing";
    spec.connector.options = {{"count", "10"}};
    auto vertex = vertex_of(spec, *number_type(), *number_type());
    vertex.operators[0].input_types.clear();
    vertex.outputs.push_back({{1, 1}, 0, -1, {}, {}});
    const operator_context context{"t",    0,          1,        8,       0,       true,    time,
                                   *files, connectors, services, metrics, nullptr, nullptr, {}};
    auto chain = operator_chain::make(vertex, make_operator_factories(), context, *task);
    if (!chain)
      FAIL(to_string(chain.error()));
    task->set_chain(std::move(*chain));
    REQUIRE(task->chain().open());
    task->attach(0, 0, std::make_unique<recording_channel>(out), 1U << 20U);
    message_builder<schema::SourceEvent> order;
    order->initAddSplits().initSplits(1)[0].setId("a");
    const auto told = order.finish();
    const auto words = told.untyped().words().asBytes();
    REQUIRE(task->chain().on_event(
        vertex.operators[0].id,
        byte_view(reinterpret_cast<const char*>(words.begin()), words.size())));
  }
  turn_result run() {
    auto left = turn_result::again;
    for (int turns = 0; turns < 1'000; ++turns) {
      services.run_steps();
      auto took = task->turn();
      if (!took)
        FAIL(to_string(took.error()));
      left = *took;
      if (left != turn_result::again && services.steps.empty())
        break;
    }
    return left;
  }
  manual_clock time;
  task_metrics metrics;
  std::unique_ptr<headrace::file_system> files;
  graph::connector_registry connectors;
  testing_services services;
  received out;
  std::unique_ptr<stream_task> task;
};

barrier ending(checkpoint_id checkpoint, graph::savepoint_stop stop) {
  return {checkpoint,
          0,
          {},
          std::make_shared<const graph::savepoint_order>(
              graph::savepoint_order{"/there", false, stop})};
}

} // namespace

TEST_SUITE("task/task/stream_task") {
TEST_CASE("rows pass, and go out when the input is idle") {
  task_fixture fixture(false);
  fixture.attach();
  fixture.task->enqueue(0, {numbers({1, 2})}, false);

  CHECK(fixture.run() == turn_result::idle);

  CHECK(fixture.out.rows() == 2);
  CHECK(fixture.metrics.records_in.value() == 2);
  CHECK(fixture.metrics.records_out.value() == 2);
  CHECK(fixture.metrics.bytes_in.value() > 0);
}

TEST_CASE("without credit no input is taken, with credit it goes on") {
  task_fixture fixture(false);
  fixture.attach(1);
  for (int i = 0; i < 5; ++i)
    fixture.task->enqueue(0, {numbers(counting(3000))}, false);

  CHECK(fixture.run() == turn_result::blocked);
  CHECK(fixture.out.rows() > 0);
  CHECK(fixture.out.rows() < 10'000);
  CHECK(fixture.task->gate().queued_bytes() > 0);
  fixture.time.advance_ms(7);
  fixture.task->add_credit(0, 0, 1U << 30U);

  CHECK(fixture.run() == turn_result::idle);
  CHECK(fixture.out.rows() == 15'000);
  CHECK(fixture.metrics.times.read(fixture.time.now_us()).back_pressured_us == 7000);
}

TEST_CASE("a turn ends though there is more to do") {
  task_fixture fixture(false);
  fixture.attach(1U << 30U);
  for (int i = 0; i < 500; ++i)
    fixture.task->enqueue(0, {numbers(counting(3000))}, false);

  const auto left = fixture.task->turn();

  REQUIRE(left);
  CHECK(*left == turn_result::again);
  CHECK(fixture.out.rows() < 500U * 3000U);
}

TEST_CASE("without checkpoints the end of input finishes the task") {
  task_fixture fixture(false);
  fixture.attach();
  fixture.task->enqueue(0, {numbers({1}), end_of_input{}}, true);
  CHECK(fixture.run() == turn_result::idle);
  CHECK_FALSE(fixture.task->has_ended());
  fixture.task->enqueue(1, {end_of_input{}}, true);

  CHECK(fixture.run() == turn_result::finished);
  CHECK(fixture.out.rows() == 1);
  CHECK(fixture.out.closed);
}

TEST_CASE("with checkpoints the task finishes when one that holds its end is complete") {
  task_fixture fixture(true);
  fixture.attach();
  fixture.task->enqueue(0, {barrier{3, 0, {}}, end_of_input{}}, false);
  fixture.task->enqueue(1, {barrier{3, 0, {}}, end_of_input{}}, false);
  CHECK(fixture.run() == turn_result::idle);
  CHECK(fixture.task->take_snapshot());
  CHECK(fixture.task->take_awaiting_checkpoint());
  CHECK_FALSE(fixture.task->take_awaiting_checkpoint());

  CHECK(fixture.task->complete_checkpoint(3)); // was taken before the end
  CHECK(fixture.run() == turn_result::idle);
  fixture.task->enqueue(0, {barrier{4, 0, {}}}, false);
  fixture.task->enqueue(1, {barrier{4, 0, {}}}, false);
  CHECK(fixture.run() == turn_result::idle);
  CHECK(fixture.task->take_snapshot());
  CHECK_FALSE(fixture.out.closed);
  CHECK(fixture.task->complete_checkpoint(4));

  CHECK(fixture.run() == turn_result::finished);
  CHECK(fixture.out.closed);
}

TEST_CASE("a trigger waits until all producers have finished") {
  task_fixture fixture(true);
  fixture.attach();
  fixture.task->enqueue(0, {end_of_input{}}, true);
  fixture.task->trigger({5, 0, {}});
  CHECK(fixture.run() == turn_result::idle);
  CHECK_FALSE(fixture.task->take_snapshot());

  fixture.task->enqueue(1, {end_of_input{}}, true);
  CHECK(fixture.run() == turn_result::idle);

  const auto taken = fixture.task->take_snapshot();
  REQUIRE(taken);
  CHECK(taken->id() == 5);
  CHECK(fixture.task->complete_checkpoint(5));
  CHECK(fixture.run() == turn_result::finished);
}

TEST_CASE("a trigger goes on when a producer finishes that had nothing more to say") {
  task_fixture fixture(true);
  fixture.attach();
  fixture.task->enqueue(0, {end_of_input{}}, true);
  fixture.task->enqueue(1, {end_of_input{}}, false);
  CHECK(fixture.run() == turn_result::idle);
  fixture.task->trigger({5, 0, {}});
  CHECK(fixture.run() == turn_result::idle);
  CHECK_FALSE(fixture.task->take_snapshot());

  fixture.task->enqueue(1, {}, true);
  CHECK(fixture.run() == turn_result::idle);

  CHECK(fixture.task->take_snapshot());
}

TEST_CASE("event time goes on from a checkpoint's, and each input holds it back as ever") {
  task_fixture fixture(true, nullptr, 50);
  fixture.attach();
  fixture.run();
  CHECK(fixture.take_watermarks() == std::vector<std::int64_t>{50});
  CHECK(fixture.metrics.watermark_ms.value() == 50);

  fixture.task->enqueue(0, {stream_element(graph::watermark{70})}, false);
  fixture.run();
  CHECK(fixture.take_watermarks().empty()); // the other one has given none
  fixture.task->enqueue(1, {stream_element(graph::watermark{30})}, false);
  fixture.run();
  CHECK(fixture.take_watermarks().empty());
  CHECK(fixture.metrics.watermark_ms.value() == 50);
  fixture.task->enqueue(0, {stream_element(graph::watermark{80})}, false);
  fixture.run();
  CHECK(fixture.take_watermarks().empty()); // is late, and holds it back
  fixture.task->enqueue(1, {stream_element(graph::watermark{60})}, false);
  fixture.run();
  CHECK(fixture.take_watermarks() == std::vector<std::int64_t>{60});
  fixture.task->enqueue(1, {stream_element(graph::watermark_status{true})}, false);
  fixture.run();
  CHECK(fixture.take_watermarks() == std::vector<std::int64_t>{80});
}

TEST_CASE("a subsumed checkpoint is told, and the newer one taken") {
  task_fixture fixture(true);
  fixture.attach();
  fixture.task->enqueue(0, {barrier{5, 0, {}}}, false);
  fixture.task->enqueue(1, {barrier{6, 0, {}}}, false);
  CHECK(fixture.run() == turn_result::idle);
  CHECK(fixture.task->take_subsumed() == std::vector<checkpoint_id>{5});
  fixture.task->enqueue(0, {barrier{6, 0, {}}}, false);
  CHECK(fixture.run() == turn_result::idle);

  const auto taken = fixture.task->take_snapshot();

  REQUIRE(taken);
  CHECK(taken->id() == 6);
}

TEST_CASE("behind the barrier of a savepoint that ends the job nothing is emitted") {
  task_fixture fixture(true);
  fixture.attach();
  const auto split = ending(5, graph::savepoint_stop::suspend);
  fixture.task->enqueue(0, {numbers({1}), split, numbers({2})}, false);
  fixture.task->enqueue(1, {split, numbers({3})}, false);

  CHECK(fixture.run() == turn_result::idle);

  CHECK(fixture.out.rows() == 1);
  const auto taken = fixture.task->take_snapshot();
  REQUIRE(taken);
  REQUIRE(taken->barrier.savepoint != nullptr);
  CHECK(taken->barrier.savepoint->directory == "/there");
  CHECK_FALSE(fixture.task->next_processing_time_ms());
  CHECK_FALSE(fixture.out.closed);

  CHECK(fixture.task->complete_checkpoint(5));
  CHECK(fixture.run() == turn_result::finished);
  CHECK(fixture.out.rows() == 1);
  CHECK(fixture.out.closed);
  CHECK_FALSE(fixture.task->has_ended()); // its input has not
}

TEST_CASE("a task goes on when the savepoint that was to end it is given up") {
  task_fixture fixture(true);
  fixture.attach();
  const auto split = ending(5, graph::savepoint_stop::suspend);
  fixture.task->enqueue(0, {split, numbers({2})}, false);
  fixture.task->enqueue(1, {split, numbers({3})}, false);
  CHECK(fixture.run() == turn_result::idle);
  CHECK(fixture.out.rows() == 0);

  CHECK(fixture.task->abort_checkpoint(5));

  CHECK(fixture.run() == turn_result::idle);
  CHECK(fixture.out.rows() == 2);
  CHECK_FALSE(fixture.out.closed);
}

TEST_CASE("a savepoint that the job outlives holds nothing back") {
  task_fixture fixture(true);
  fixture.attach();
  const auto split = ending(5, graph::savepoint_stop::none);
  fixture.task->enqueue(0, {split, numbers({2})}, false);
  fixture.task->enqueue(1, {split, numbers({3})}, false);

  CHECK(fixture.run() == turn_result::idle);

  CHECK(fixture.out.rows() == 2);
  CHECK(fixture.task->take_snapshot()->barrier.savepoint != nullptr);
}

TEST_CASE("a source that is drained ends event time before the barrier") {
  source_fixture fixture;
  fixture.run();
  const auto before = fixture.out.rows();
  CHECK(before > 0);

  fixture.task->trigger(ending(5, graph::savepoint_stop::drain));
  CHECK(fixture.run() == turn_result::idle);

  std::vector<std::size_t> kinds;
  for (const auto& element : fixture.out.elements)
    if (!std::holds_alternative<graph::record_batch>(element))
      kinds.push_back(element.index());
  REQUIRE(kinds.size() >= 3);
  const auto& elements = fixture.out.elements;
  CHECK(std::get<graph::watermark>(elements[elements.size() - 3]).time_ms == graph::watermark::end);
  CHECK(std::holds_alternative<end_of_input>(elements[elements.size() - 2]));
  CHECK(std::get<barrier>(elements.back()).savepoint->stop == graph::savepoint_stop::drain);
  CHECK(fixture.task->take_snapshot());
  CHECK(fixture.task->complete_checkpoint(5));
  CHECK(fixture.run() == turn_result::finished);
  CHECK(fixture.out.rows() == before);
}

TEST_CASE("a task that finds its slot over the limit fails by name") {
  auto slot = std::make_shared<slot_memory>(1000);
  auto memory = std::make_shared<task_memory>(slot);
  task_fixture fixture(false, memory);
  fixture.attach();
  memory->charge(1001);
  fixture.task->enqueue(0, {numbers({1})}, false);

  const auto left = fixture.task->turn();

  REQUIRE_FALSE(left);
  CHECK(left.error().code == errc::memory_exceeded);
  memory->release(1001);
  CHECK(slot->used_bytes() == 0);
}
} // TEST_SUITE("task/task/stream_task")
