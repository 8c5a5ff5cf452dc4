#include "test/support/batches.hpp"
#include "test/support/chain_harness.hpp"
#include "libtask/task/stream_task.hpp"

#include <doctest/doctest.h>

#include <numeric>

using namespace headrace;
using namespace headrace::task;
using namespace headrace::testing;
using graph::barrier;
using graph::stream_element;

namespace {

/// Numbers of batches, and "|" for a barrier, in the order in which they came.
struct received {
  std::vector<stream_element> elements;
  std::vector<std::int64_t> rows_until_barrier() const {
    std::vector<std::int64_t> out;
    for (const auto& element : elements) {
      if (std::holds_alternative<barrier>(element))
        return out;
      append(element, out);
    }
    return out;
  }
  std::vector<std::int64_t> rows() const {
    std::vector<std::int64_t> out;
    for (const auto& element : elements)
      append(element, out);
    return out;
  }
  bool has_barrier() const { return count_barriers() > 0; }
  std::size_t count_barriers() const {
    std::size_t count = 0;
    for (const auto& element : elements)
      count += std::holds_alternative<barrier>(element) ? 1U : 0U;
    return count;
  }

private:
  static void append(const stream_element& element, std::vector<std::int64_t>& out) {
    if (const auto* batch = std::get_if<graph::record_batch>(&element))
      for (const auto number : numbers_of(*batch))
        out.push_back(number);
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
  void flush(bool) override {}

private:
  received& into_;
};

/// Emits what it takes several times, a piece at a time, and takes its time for each row.
class slow_operator final : public stream_operator {
public:
  struct habits {
    int copies = 1;
    std::int64_t row_us = 0;
    bool is_blocked = false;
    std::size_t taken_rows = 0;
  };
  slow_operator(habits& how, manual_clock& time) : how_(how), time_(time) {}
  status add(std::int32_t, const graph::record_batch& rows) override {
    rows_ = rows;
    left_ = how_.copies;
    how_.taken_rows += rows.size();
    time_.advance_us(static_cast<std::int64_t>(rows.size()) * how_.row_us);
    return {};
  }
  result<drain_result> drain(operator_output& out, const drain_budget&) override {
    if (left_ > 0) {
      out.emit(rows_);
      --left_;
    }
    return left_ > 0 ? drain_result::more : drain_result::done;
  }
  bool is_blocked() const override { return how_.is_blocked; }

private:
  habits& how_;
  manual_clock& time_;
  graph::record_batch rows_;
  int left_ = 0;
};

struct task_fixture {
  explicit task_fixture(std::uint64_t credit) : files(make_local_file_system()) {
    stream_task::setup setup;
    setup.channel_inputs = {0, 0};
    setup.checkpointing = true;
    setup.time = &time;
    setup.metrics = &metrics;
    auto split = make_partitioner({});
    REQUIRE(split);
    setup.partitions.push_back(std::make_unique<result_partition>(std::move(*split), 1));
    task = std::make_unique<stream_task>(std::move(setup));
    auto vertex = vertex_of(graph::project_spec{{0}}, *number_type(), *number_type());
    vertex.outputs.push_back({{1, 1}, 0, -1, {}, {}});
    const operator_context context{"t",    0,          1,        8,       0,       true,    time,
                                   *files, connectors, services, metrics, nullptr, nullptr, {}};
    operator_factories factories;
    factories.add<graph::project_spec>([this](const auto&, const auto&) {
      return result<std::unique_ptr<stream_operator>>(
          std::make_unique<slow_operator>(habits, time));
    });
    auto chain = operator_chain::make(vertex, factories, context, *task);
    REQUIRE(chain);
    task->set_chain(std::move(*chain));
    REQUIRE(task->chain().open());
    task->attach(0, 0, std::make_unique<recording_channel>(out), credit);
  }
  turn_result turn() {
    auto left = task->turn();
    if (!left)
      FAIL(to_string(left.error()));
    return *left;
  }
  turn_result run() {
    for (int turns = 0; turns < 10'000; ++turns)
      if (const auto left = turn(); left != turn_result::again)
        return left;
    return turn_result::again;
  }
  /// Fills the input and what waits to be sent.
  void fill(int batches) {
    for (int i = 0; i < batches; ++i)
      task->enqueue(0, {numbers(next(2000))}, false);
    CHECK(run() == turn_result::blocked);
  }
  std::vector<std::int64_t> next(std::int64_t count) {
    std::vector<std::int64_t> numbers_given(static_cast<std::size_t>(count));
    std::iota(numbers_given.begin(), numbers_given.end(), given);
    given += count;
    return numbers_given;
  }
  manual_clock time;
  task_metrics metrics;
  slow_operator::habits habits;
  std::unique_ptr<headrace::file_system> files;
  graph::connector_registry connectors;
  testing_services services;
  received out;
  std::int64_t given = 0;
  std::unique_ptr<stream_task> task;
};

std::vector<std::int64_t> rows_of(const std::vector<stream_element>& elements) {
  received all{elements};
  return all.rows();
}

/// All that a checkpoint holds of the rows that went into a task: what had been sent before the
/// barrier, what waited to be sent, and what waited to be taken in.
std::vector<std::int64_t> held_by(const begun_checkpoint& taken, const received& out) {
  auto all = out.rows_until_barrier();
  for (const auto& output : taken.in_flight.outputs)
    for (const auto number : rows_of(output.elements.elements))
      all.push_back(number);
  for (const auto& [channel, elements] : taken.in_flight.inputs)
    for (const auto number : rows_of(elements))
      all.push_back(number);
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<std::int64_t> counting(std::int64_t count) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

const barrier unaligned{5, 0, graph::barrier_alignment::unaligned};

barrier timed(const manual_clock& time, std::int64_t timeout_ms) {
  barrier out{5, time.wall_ms(), {}};
  out.aligned_timeout_ms = timeout_ms;
  return out;
}

} // namespace

TEST_SUITE("task/task/unaligned_checkpoint") {
TEST_CASE("a barrier overtakes what waits at the inputs and what waits to be sent") {
  task_fixture fixture(1);
  fixture.fill(10);
  fixture.task->enqueue(0, {unaligned, numbers({-1})}, false);
  fixture.task->enqueue(1, {numbers({-2}), unaligned}, false);

  CHECK(fixture.run() == turn_result::blocked);

  CHECK(fixture.out.count_barriers() == 1);
  const auto taken = fixture.task->take_snapshot();
  REQUIRE(taken);
  CHECK(taken->is_unaligned);
  CHECK_FALSE(taken->in_flight.outputs.empty());
  auto expected = counting(20'000);
  expected.insert(expected.begin(), -2);
  CHECK(held_by(*taken, fixture.out) == expected);

  fixture.task->add_credit(0, 0, 1U << 30U);
  CHECK(fixture.run() == turn_result::idle);
  auto all = fixture.out.rows();
  std::sort(all.begin(), all.end());
  expected.insert(expected.begin() + 1, -1);
  CHECK(all == expected);
}

TEST_CASE("a snapshot waits for what is still to come before the other channels' barriers") {
  task_fixture fixture(1U << 30U);
  fixture.task->enqueue(0, {numbers({1}), unaligned}, false);
  CHECK(fixture.run() == turn_result::idle);
  CHECK(fixture.out.has_barrier()); // is given on at once
  CHECK_FALSE(fixture.task->take_snapshot());

  fixture.time.advance_ms(3);
  fixture.task->enqueue(1, {numbers({2})}, false);
  CHECK(fixture.run() == turn_result::idle);
  CHECK_FALSE(fixture.task->take_snapshot());
  fixture.task->enqueue(1, {numbers({3}), unaligned, numbers({4})}, false);

  const auto taken = fixture.task->take_snapshot();
  REQUIRE(taken);
  CHECK(taken->alignment_us == 3000);
  CHECK(held_by(*taken, fixture.out) == std::vector<std::int64_t>{1, 2, 3});
  CHECK(fixture.run() == turn_result::idle);
  CHECK(fixture.out.rows().size() == 4);
}

TEST_CASE("what an operator has still to emit goes out past credit, then the barrier passes") {
  task_fixture fixture(1);
  fixture.habits.copies = 100;
  fixture.fill(1);
  CHECK_FALSE(fixture.task->chain().is_drained());
  fixture.task->enqueue(0, {unaligned}, false);
  fixture.task->enqueue(1, {unaligned}, false);

  fixture.run();

  CHECK(fixture.out.has_barrier());
  const auto taken = fixture.task->take_snapshot();
  REQUIRE(taken);
  const auto held = held_by(*taken, fixture.out);
  // Rows that the operator had taken are there a hundred times, the others once.
  CHECK(held.size() == fixture.habits.taken_rows * 100 + (2000 - fixture.habits.taken_rows));
}

TEST_CASE("an operator that cannot take rows leaves them at the input, where barriers overtake") {
  task_fixture fixture(1U << 30U);
  fixture.habits.is_blocked = true;
  fixture.task->enqueue(0, {numbers({1, 2, 3})}, false);
  CHECK(fixture.run() == turn_result::blocked);
  CHECK(fixture.task->chain().is_drained());
  CHECK(fixture.habits.taken_rows == 0);
  fixture.habits.is_blocked = false;
  CHECK(fixture.run() == turn_result::idle);
  CHECK(fixture.out.rows().size() == 3);
}

TEST_CASE("an alignment that takes too long is given up for an unaligned checkpoint") {
  task_fixture fixture(1U << 30U);
  const auto split = timed(fixture.time, 100);
  fixture.task->enqueue(0, {split, numbers({1})}, false);
  fixture.task->enqueue(1, {numbers({2})}, false);
  CHECK(fixture.run() == turn_result::idle);
  CHECK_FALSE(fixture.out.has_barrier());
  CHECK(fixture.task->next_overtaking_us() == fixture.time.now_us() + 100'000);

  fixture.time.advance_ms(100);
  CHECK(fixture.run() == turn_result::idle);

  CHECK(fixture.out.has_barrier());
  for (const auto& element : fixture.out.elements)
    if (const auto* sent = std::get_if<barrier>(&element))
      CHECK(sent->alignment == graph::barrier_alignment::unaligned);
  CHECK_FALSE(fixture.task->take_snapshot());
  fixture.task->enqueue(1, {numbers({3}), split}, false);
  const auto taken = fixture.task->take_snapshot();
  REQUIRE(taken);
  CHECK(taken->is_unaligned);
  CHECK(held_by(*taken, fixture.out) == std::vector<std::int64_t>{2, 3});
}

TEST_CASE("an alignment within its time stores nothing") {
  task_fixture fixture(1U << 30U);
  const auto split = timed(fixture.time, 100);
  fixture.task->enqueue(0, {numbers({1}), split}, false);
  CHECK(fixture.run() == turn_result::idle);
  fixture.time.advance_ms(99);
  fixture.task->enqueue(1, {split}, false);
  CHECK(fixture.run() == turn_result::idle);

  const auto taken = fixture.task->take_snapshot();
  REQUIRE(taken);
  CHECK_FALSE(taken->is_unaligned);
  CHECK(taken->in_flight.is_empty());
  CHECK(taken->alignment_us == 99'000);
  CHECK_FALSE(fixture.task->next_overtaking_us());
}

TEST_CASE("a trigger's age counts, and a clock that is wrong costs no more than the timeout") {
  task_fixture fixture(1U << 30U);
  auto split = timed(fixture.time, 100);
  split.timestamp_ms -= 70;
  fixture.task->enqueue(0, {split}, false);
  CHECK(fixture.task->next_overtaking_us() == fixture.time.now_us() + 30'000);
  CHECK(fixture.task->abort_checkpoint(5));
  CHECK_FALSE(fixture.task->next_overtaking_us());

  split.checkpoint = 6;
  split.timestamp_ms += 3'600'000;
  fixture.task->enqueue(0, {split}, false);
  CHECK(fixture.task->next_overtaking_us() == fixture.time.now_us() + 100'000);
}

TEST_CASE("an aligned barrier that waits for credit too long goes ahead in the results") {
  task_fixture fixture(1);
  const auto split = timed(fixture.time, 100);
  fixture.task->enqueue(0, {numbers(fixture.next(2000))}, false);
  CHECK(fixture.run() == turn_result::idle); // the credit is used up
  fixture.task->enqueue(0, {numbers(fixture.next(10)), split, numbers({-1})}, false);
  fixture.task->enqueue(1, {split}, false);
  CHECK(fixture.run() == turn_result::blocked);
  CHECK(fixture.task->partition(0).has_waiting_barrier(5));
  CHECK_FALSE(fixture.task->take_snapshot());
  CHECK(fixture.task->next_overtaking_us() == fixture.time.now_us() + 100'000);

  fixture.time.advance_ms(100);
  fixture.run();

  CHECK(fixture.out.count_barriers() == 1);
  const auto taken = fixture.task->take_snapshot();
  REQUIRE(taken);
  CHECK(taken->is_unaligned);
  CHECK(held_by(*taken, fixture.out) == counting(2010));
}

TEST_CASE("an aligned barrier that finds credit in time is of an aligned checkpoint") {
  task_fixture fixture(1);
  const auto split = timed(fixture.time, 100);
  fixture.task->enqueue(0, {numbers(fixture.next(2000))}, false);
  CHECK(fixture.run() == turn_result::idle);
  fixture.task->enqueue(0, {numbers(fixture.next(10)), split}, false);
  fixture.task->enqueue(1, {split}, false);
  CHECK(fixture.run() == turn_result::blocked);
  fixture.task->add_credit(0, 0, 1U << 30U);

  CHECK(fixture.run() == turn_result::idle);

  const auto taken = fixture.task->take_snapshot();
  REQUIRE(taken);
  CHECK_FALSE(taken->is_unaligned);
  CHECK(taken->in_flight.is_empty());
  CHECK(fixture.out.rows_until_barrier().size() == 2010);
}

TEST_CASE("what was stored comes back before all else") {
  task_fixture stored(1);
  stored.fill(10);
  stored.task->enqueue(0, {unaligned}, false);
  stored.task->enqueue(1, {unaligned}, false);
  stored.run();
  auto taken = stored.task->take_snapshot();
  REQUIRE(taken);
  const auto sent = stored.out.rows_until_barrier();

  task_fixture restored(1U << 30U);
  restored.task->restore(std::move(taken->in_flight));
  restored.task->enqueue(0, {numbers({20'000})}, false);
  restored.task->enqueue(1, {numbers({20'001})}, false);
  CHECK(restored.run() == turn_result::idle);

  auto all = sent;
  for (const auto number : restored.out.rows())
    all.push_back(number);
  REQUIRE(all.size() == 20'002);
  CHECK(all.back() >= 20'000);
  std::sort(all.begin(), all.end());
  CHECK(all == counting(20'002));
}

TEST_CASE("a task all of whose producers have finished records what they have left") {
  task_fixture fixture(1);
  fixture.fill(10);
  fixture.task->enqueue(0, {graph::end_of_input{}}, true);
  fixture.task->trigger(unaligned);
  CHECK(fixture.run() == turn_result::blocked);
  CHECK_FALSE(fixture.task->take_snapshot()); // it has not heard of the other's end
  fixture.task->enqueue(1, {numbers(fixture.next(1)), graph::end_of_input{}}, true);

  const auto taken = fixture.task->take_snapshot();
  REQUIRE(taken);
  CHECK(held_by(*taken, fixture.out) == counting(20'001));
}

TEST_CASE("at least once nothing overtakes") {
  task_fixture fixture(1U << 30U);
  const barrier counted{5, 0, graph::barrier_alignment::at_least_once};
  fixture.task->enqueue(0, {numbers({1}), counted, numbers({2})}, false);
  CHECK(fixture.run() == turn_result::idle);
  CHECK_FALSE(fixture.out.has_barrier());
  fixture.task->enqueue(1, {counted}, false);
  CHECK(fixture.run() == turn_result::idle);
  const auto taken = fixture.task->take_snapshot();
  REQUIRE(taken);
  CHECK(taken->in_flight.is_empty());
}

TEST_CASE("a slow task takes few rows at once, so that a barrier waits little") {
  task_fixture fixture(1U << 30U);
  fixture.habits.row_us = 10'000; // a whole batch of these would take half a minute
  for (int i = 0; i < 3; ++i)
    fixture.task->enqueue(0, {numbers(fixture.next(4096))}, false);
  for (int i = 0; i < 20; ++i)
    fixture.turn(); // it gets to know its rows
  const auto came_us = fixture.time.now_us();
  fixture.task->enqueue(0, {unaligned}, false);
  fixture.task->enqueue(1, {unaligned}, false);
  while (!fixture.out.has_barrier())
    fixture.turn();

  CHECK(fixture.time.now_us() - came_us <= 3 * batch_pacer::target_us);
  const auto taken = fixture.task->take_snapshot();
  REQUIRE(taken);
  CHECK(held_by(*taken, fixture.out) == counting(3 * 4096));
}
} // TEST_SUITE("task/task/unaligned_checkpoint")
