#include "libtask/operator/operator_chain.hpp"

#include "test/support/batches.hpp"
#include "test/support/chain_harness.hpp"

#include <doctest/doctest.h>

#include <numeric>

using namespace headrace;
using namespace headrace::testing;

namespace {

/// Emits each number n as n, n, … n times: a flat map that must be resumable.
class repeat final : public graph::row_function {
public:
  std::size_t process(const graph::record_batch& in, std::size_t from,
                      graph::function_output& out) override {
    const auto* values = in.at(0).values<std::int64_t>();
    for (; from < in.size(); ++from, given_ = 0) {
      const auto value = values[in.row_at(from)];
      for (; given_ < value; ++given_) {
        if (out.is_full())
          return from;
        out.main().column(0).append(value);
        out.main().end_row();
      }
    }
    return from;
  }

private:
  std::int64_t given_ = 0;
};

class keep_even final : public graph::filter_function {
public:
  std::size_t select(const graph::record_batch& in, std::uint32_t* kept) override {
    std::size_t count = 0;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (in.at(0).values<std::int64_t>()[in.row_at(i)] % 2 == 0)
        kept[count++] = in.row_at(i);
    return count;
  }
};

class throwing final : public graph::filter_function {
public:
  std::size_t select(const graph::record_batch&, std::uint32_t*) override {
    throw std::runtime_error("no such word");
  }
};

graph::function_table functions() {
  return {
      [] { return graph::any_function(std::unique_ptr<graph::row_function>(new repeat)); },
      [] { return graph::any_function(std::unique_ptr<graph::filter_function>(new keep_even)); },
      [] { return graph::any_function(std::unique_ptr<graph::filter_function>(new throwing)); }};
}

/// repeat → keep_even
graph::job_vertex two_chained() {
  auto vertex = vertex_of(graph::row_function_spec{{0}}, *number_type(), *number_type());
  auto second = vertex.operators[0];
  second.id = {3, 4};
  second.spec = graph::filter_spec{{1}};
  vertex.operators.push_back(second);
  vertex.chain.push_back({0, -1, 1, 0});
  return vertex;
}

std::vector<std::int64_t> all_numbers(const std::vector<graph::record_batch>& batches) {
  std::vector<std::int64_t> out;
  for (const auto& batch : batches)
    for (const auto value : numbers_of(batch))
      out.push_back(value);
  return out;
}

} // namespace

TEST_SUITE("task/operator/operator_chain") {
TEST_CASE("rows pass through all operators in bounded pieces") {
  chain_harness harness(two_chained(), functions());
  harness.open();

  harness.push(numbers({2, 3, 10}));

  const auto batches = harness.take_batches();
  CHECK(all_numbers(batches) ==
        std::vector<std::int64_t>{2, 2, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10});
  for (const auto& batch : batches)
    CHECK(batch.size() <= 3);
}

TEST_CASE("a watermark comes out behind the rows that were before it") {
  chain_harness harness(two_chained(), functions());
  harness.open();
  harness.chain->add(0, numbers({4}));
  harness.chain->add(graph::watermark{77});
  harness.chain->add(0, numbers({2}));
  harness.drain();

  std::vector<std::string> order;
  for (const auto& element : harness.results.of(0)) {
    if (const auto* rows = std::get_if<graph::record_batch>(&element))
      for (const auto value : numbers_of(*rows))
        order.push_back(std::to_string(value));
    else
      order.push_back("W" + std::to_string(std::get<graph::watermark>(element).time_ms));
  }
  CHECK(order == std::vector<std::string>{"4", "4", "4", "4", "W77", "2", "2"});
}

TEST_CASE("the end passes all operators and is forwarded once") {
  chain_harness harness(two_chained(), functions());
  harness.open();
  CHECK_FALSE(harness.chain->has_ended());

  harness.end();

  CHECK(harness.chain->has_ended());
  const auto& out = harness.results.of(0);
  REQUIRE(out.size() == 2);
  CHECK(std::get<graph::watermark>(out[0]).time_ms == graph::watermark::end);
  CHECK(std::holds_alternative<graph::end_of_input>(out[1]));
}

TEST_CASE("what user code throws names the operator and the subtask") {
  auto vertex = vertex_of(graph::filter_spec{{2}}, *number_type(), *number_type());
  vertex.operators[0].name = "known words";
  chain_harness harness(vertex, functions());
  harness.open();

  harness.chain->add(0, numbers({1}));
  const auto failure = harness.drain_to_failure();

  REQUIRE(failure);
  CHECK(failure->code == errc::user_function_failed);
  CHECK(failure->message == "operator failed: known words, subtask 1 of 1");
  REQUIRE(failure->causes.size() == 1);
  CHECK(failure->causes[0].message == "no such word");
}

TEST_CASE("a barrier is forwarded behind the rows before it, and gives a snapshot") {
  chain_harness harness(two_chained(), functions());
  harness.open();
  harness.chain->add(0, numbers({4}));

  const auto snapshot = harness.snapshot(5);

  CHECK(snapshot.operators.empty()); // these operators have no state
  const auto& out = harness.results.of(0);
  REQUIRE(out.size() >= 2);
  CHECK(std::get<graph::barrier>(out.back()).checkpoint == 5);
}

TEST_CASE("a snapshot holds the event time of each operator, and not that it has ended") {
  chain_harness harness(two_chained(), functions());
  harness.open();
  harness.watermark(77);
  harness.chain->add(0, numbers({4}));
  harness.watermark(graph::watermark::end);

  const auto snapshot = harness.snapshot(5);

  REQUIRE(snapshot.operators.size() == 2);
  for (const auto& [id, one] : snapshot.operators) {
    CHECK_FALSE(one.has_state());
    CHECK(one.watermark_ms == 77);
  }
}

TEST_CASE("an operator goes on from its event time, and is never behind it") {
  state::task_state_snapshot from;
  from.operators[{3, 3}].watermark_ms = 40;
  from.operators[{3, 4}].watermark_ms = 30;
  chain_harness harness(two_chained(), functions());
  harness.open(from);
  harness.drain();
  // The one behind is told what the first one goes on from.
  CHECK(harness.take_watermarks() == std::vector<std::int64_t>{30, 40});
  CHECK(harness.metrics.watermark_ms.value() == 40);

  harness.watermark(20);
  harness.watermark(40);
  CHECK(harness.take_watermarks().empty());
  CHECK(harness.metrics.watermark_ms.value() == 40);
  CHECK(harness.snapshot(6).operators.at({3, 4}).watermark_ms == 40);

  harness.watermark(41);
  harness.end();
  CHECK(harness.take_watermarks() == std::vector<std::int64_t>{41, graph::watermark::end});
}

TEST_CASE("an operator goes on from its event time before it takes anything else") {
  state::task_state_snapshot from;
  from.operators[{3, 3}].watermark_ms = 40;
  chain_harness harness(two_chained(), functions());
  harness.open(from);
  harness.chain->add(0, numbers({2}));
  harness.chain->add(graph::barrier{7, 0, {}});
  harness.drain();

  const auto& out = harness.results.of(0);
  REQUIRE(out.size() == 3);
  CHECK(std::get<graph::watermark>(out[0]).time_ms == 40);
  CHECK(std::holds_alternative<graph::record_batch>(out[1]));
  const auto taken = harness.chain->take_snapshot();
  REQUIRE(taken);
  CHECK(taken->content->watermarks().operators.at({3, 4}).watermark_ms == 40);
}

TEST_CASE("of a drained job only those keep their event time with whom it begins") {
  auto vertex = vertex_of(graph::watermarks_spec{}, *number_type(), *number_type());
  auto& spec = std::get<graph::watermarks_spec>(vertex.operators[0].spec).watermarks;
  spec.kind = graph::watermark_kind::monotonous;
  spec.time_column = 0;
  auto second = vertex.operators[0];
  second.id = {3, 4};
  second.spec = graph::filter_spec{{1}};
  vertex.operators.push_back(second);
  vertex.chain.push_back({0, -1, 1, 0});
  chain_harness harness(vertex, functions());
  harness.open();
  harness.push(numbers({10, 51}));
  const auto order = std::make_shared<graph::savepoint_order>();
  order->stop = graph::savepoint_stop::drain;
  harness.chain->add(graph::watermark{graph::watermark::end});
  harness.chain->add(graph::barrier{1, 0, graph::barrier_alignment::exactly_once, order});
  harness.drain();

  const auto taken = harness.chain->take_snapshot();
  REQUIRE(taken);
  const auto marks = taken->content->watermarks().operators;
  REQUIRE(marks.size() == 1);
  CHECK(marks.at({3, 3}).watermark_ms == 50);
}

TEST_CASE("a generator of watermarks does not go back behind what it gave before") {
  graph::watermarks_spec spec;
  spec.watermarks.kind = graph::watermark_kind::monotonous;
  spec.watermarks.time_column = 0;
  const auto vertex = vertex_of(spec, *number_type(), *number_type());
  chain_harness before(vertex);
  before.open();
  before.watermark(1'000); // of the input: not what rows go by from here on
  before.push(numbers({10, 51}));
  CHECK(before.take_watermarks() == std::vector<std::int64_t>{50});
  const auto stored = before.snapshot(1);
  CHECK(stored.operators.at({3, 3}).watermark_ms == 50);

  chain_harness harness(vertex);
  harness.open(stored);
  harness.drain();
  CHECK(harness.take_watermarks() == std::vector<std::int64_t>{50});
  harness.push(numbers({20, 51}));
  CHECK(harness.take_watermarks().empty());
  harness.watermark(2'000);
  harness.push(numbers({53}));
  CHECK(harness.take_watermarks() == std::vector<std::int64_t>{52});
  harness.end();
  CHECK(harness.take_watermarks() == std::vector<std::int64_t>{graph::watermark::end});
}

TEST_CASE("a function of another kind is refused") {
  auto vertex = vertex_of(graph::filter_spec{{0}}, *number_type(), *number_type());
  vertex.outputs.push_back({{1, 1}, 0, -1, {}, {}});
  chain_harness harness(vertex, functions());
  task::task_metrics metrics;
  graph::connector_registry none;
  auto files = make_local_file_system();
  auto code = std::make_shared<graph::job_code>();
  code->functions = functions();
  const task::operator_context context{
      "t",     0,    1,       128, 0, false, harness.time, *files, none, harness.services,
      metrics, code, nullptr, {}};
  recorded_results results;

  const auto made =
      task::operator_chain::make(vertex, task::make_operator_factories(), context, results);

  REQUIRE_FALSE(made);
  CHECK(made.error().code == errc::graph_mismatch);
}
} // TEST_SUITE("task/operator/operator_chain")
