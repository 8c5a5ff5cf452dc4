#include "test/libtask/operator/testing_co_functions.hpp"
#include "test/support/batches.hpp"
#include "test/support/chain_harness.hpp"
#include "libtask/task/stream_task.hpp"
#include "libstate/registry/state_backends.hpp"
#include "libgraph/api/co_process_function.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace headrace;
using namespace headrace::task;
using namespace headrace::testing;
using graph::barrier;
using graph::watermark;
using graph::watermark_status;

namespace {

/// Gives each row's word again when its time has passed, with the watermark of then.
class timing final : public api::keyed_co_process_function<std::string, counted, counted, counted> {
public:
  void process1(const counted&, context_type& context, api::collector<counted>&) override {
    context.register_event_timer(context.timestamp());
  }
  void process2(const counted&, context_type& context, api::collector<counted>&) override {
    context.register_event_timer(context.timestamp());
  }
  void on_timer(std::int64_t, context_type& context, api::collector<counted>& out) override {
    out.emit({context.key(), context.current_watermark()});
  }
};

class recording_channel final : public exchange_channel {
public:
  explicit recording_channel(word_rows& into) : into_(into) {}
  taken add(graph::stream_element element) override {
    const auto cost = exchange_cost(element);
    if (const auto* rows = std::get_if<graph::record_batch>(&element))
      for (auto& row : words_of(*rows))
        into_.push_back(std::move(row));
    return {cost, std::nullopt};
  }
  void flush(bool /*closes*/) override {}

private:
  word_rows& into_;
};

/// One subtask with a keyed operator of two inputs, a channel each.
struct two_inputs {
  two_inputs() : files(make_local_file_system()) {
    stream_task::setup setup;
    setup.channel_inputs = {0, 1};
    setup.checkpointing = true;
    setup.time = &time;
    setup.metrics = &metrics;
    auto split = make_partitioner({});
    REQUIRE(split);
    setup.partitions.push_back(std::make_unique<result_partition>(std::move(*split), 1));
    task = std::make_unique<stream_task>(std::move(setup));
    auto code = std::make_shared<graph::job_code>();
    code->functions = keyed_co_functions(
        api::keyed_co_process_adaptor<timing>({}, api::co_key_columns{{0}, {0}}, nullptr));
    auto vertex = co_vertex({{0}, {0}, {0}});
    vertex.outputs.push_back({{1, 1}, 0, -1, {}, {}});
    const operator_context context{"t",    0,          1,        8,       0,    true,    time,
                                   *files, connectors, services, metrics, code, nullptr, {}};
    auto chain = operator_chain::make(vertex, make_operator_factories(), context, *task);
    REQUIRE(chain);
    task->set_chain(std::move(*chain));
    auto backend = state::make_state_backend("hashmap");
    REQUIRE(backend);
    state::local_first_files stored(*files, {}, {});
    REQUIRE(task->chain().restore(**backend, {}, {}, stored));
    REQUIRE(task->chain().open());
    task->attach(0, 0, std::make_unique<recording_channel>(out), 1U << 20U);
  }
  /// Takes elements into a channel, works them off, and gives the rows that came.
  word_rows add(std::size_t channel, std::vector<graph::stream_element> elements) {
    task->enqueue(channel, std::move(elements), false);
    for (int turns = 0; turns < 10'000; ++turns) {
      const auto left = task->turn();
      if (!left)
        FAIL(to_string(left.error()));
      if (*left != turn_result::again)
        break;
    }
    return std::exchange(out, {});
  }
  manual_clock time;
  task_metrics metrics;
  std::unique_ptr<headrace::file_system> files;
  graph::connector_registry connectors;
  testing_services services;
  word_rows out;
  std::unique_ptr<stream_task> task;
};

} // namespace

TEST_SUITE_BEGIN("task/task/co_process_task");

TEST_CASE("event time of a connection is the smaller one of its inputs") {
  two_inputs fixture;

  CHECK(fixture.add(0, {timed_words({{"a", 0}, {"b", 0}}, {10, 20}), watermark{100}}).empty());
  CHECK(fixture.add(1, {timed_words({{"c", 0}}, {12}), watermark{11}}) == word_rows{{"a", 11}});
  CHECK(fixture.add(1, {watermark{15}}) == word_rows{{"c", 15}});
  CHECK(fixture.add(1, {watermark{200}}) == word_rows{{"b", 100}});
}

TEST_CASE("an idle input does not hold event time back") {
  two_inputs fixture;
  fixture.add(0, {timed_words({{"a", 0}}, {10}), watermark{100}});

  CHECK(fixture.add(1, {watermark_status{true}}) == word_rows{{"a", 100}});
}

TEST_CASE("barriers of both inputs are aligned: what one overtook waits") {
  two_inputs fixture;

  CHECK(fixture.add(0, {barrier{1, 0, {}}, timed_words({{"a", 0}}, {10}), watermark{100}}).empty());
  CHECK(fixture.add(1, {watermark{100}}).empty()); // input 0 has not come so far
  CHECK_FALSE(fixture.task->take_snapshot());
  CHECK(fixture.add(1, {barrier{1, 0, {}}}) == word_rows{{"a", 100}});

  CHECK(fixture.task->take_snapshot());
}

TEST_SUITE_END();
