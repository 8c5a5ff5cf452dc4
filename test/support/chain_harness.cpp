#include "test/support/chain_harness.hpp"

#include "test/support/testing_file_system.hpp"
#include "libstate/checkpoint/checkpoint_storage.hpp"
#include "libstate/registry/state_backends.hpp"

#include <doctest/doctest.h>

namespace headrace::testing {

namespace {
/// So that one harness restores what another stored.
testing_file_system& shared_files() {
  static testing_file_system files;
  return files;
}
} // namespace

bool testing_services::run_step() {
  if (steps.empty())
    return false;
  auto [step, then] = std::move(steps.front());
  steps.pop_front();
  step();
  then();
  return true;
}

void testing_services::run_steps(int most) {
  while (most-- > 0 && run_step())
    ;
}

std::vector<graph::stream_element>& recorded_results::of(std::size_t result) {
  if (elements_.size() <= result)
    elements_.resize(result + 1);
  return elements_[result];
}

void recorded_results::emit(std::size_t result, graph::record_batch rows) {
  of(result).emplace_back(std::move(rows));
}

void recorded_results::broadcast(std::size_t result, const graph::stream_element& element) {
  of(result).push_back(element);
}

chain_harness::chain_harness(graph::job_vertex vertex, graph::function_table functions)
    : chain_harness(std::move(vertex), std::move(functions), options()) {}

chain_harness::chain_harness(graph::job_vertex vertex, graph::function_table functions, options how,
                             headrace::file_system* files)
    : factories(task::make_operator_factories()), how_(how), vertex_(std::move(vertex)),
      code_(std::make_shared<graph::job_code>()),
      files_(files == nullptr ? &shared_files() : files) {
  code_->functions = std::move(functions);
  auto backend = state::make_state_backend(how_.backend);
  REQUIRE(backend);
  backend_ = std::move(*backend);
  if (vertex_.outputs.empty())
    vertex_.outputs.push_back(
        {{1, 1}, static_cast<std::int32_t>(vertex_.operators.size()) - 1, -1, {}, {}});
}

chain_harness::~chain_harness() = default;

void chain_harness::open(const state::task_state_snapshot& from) {
  if (const auto opened = try_open(from); !opened)
    FAIL(to_string(opened.error()));
}

status chain_harness::try_open(const state::task_state_snapshot& from, bool may_drop_state) {
  const task::operator_context context{"test task",
                                       how_.subtask,
                                       how_.parallelism,
                                       how_.max_parallelism,
                                       0,
                                       how_.checkpointing,
                                       time,
                                       *files_,
                                       connectors,
                                       services,
                                       metrics,
                                       code_,
                                       nullptr,
                                       {},
                                       how_.job,
                                       how_.periodic_checkpoints,
                                       false,
                                       how_.committer_retries};
  auto made = task::operator_chain::make(vertex_, factories, context, results);
  if (!made)
    FAIL(to_string(made.error()));
  chain = std::move(*made);
  state::local_first_files stored(*files_, {}, {});
  const auto restored = chain->restore(*backend_, from, scratch_.path() + "/state", stored);
  if (!restored)
    FAIL(to_string(restored.error()));
  return chain->open(may_drop_state);
}

void chain_harness::push(std::int32_t input, graph::record_batch rows) {
  chain->add(input, std::move(rows));
  drain();
}

void chain_harness::watermark(std::int64_t time_ms) {
  chain->add(graph::watermark{time_ms});
  drain();
}

void chain_harness::end() {
  chain->add(graph::watermark{graph::watermark::end});
  chain->end_input(0);
  drain();
}

void chain_harness::drain() {
  const auto failure = drain_to_failure();
  if (failure)
    FAIL(to_string(*failure));
}

std::optional<error> chain_harness::drain_to_failure() {
  for (int steps = 0; steps < 1'000'000 && !chain->is_drained(); ++steps) {
    if (chain->is_blocked())
      return std::nullopt;
    auto done = chain->step(how_.budget);
    if (!done)
      return std::move(done).error();
  }
  REQUIRE(chain->is_drained());
  return std::nullopt;
}

error chain_harness::failed_snapshot(checkpoint_id checkpoint) {
  chain->add(graph::barrier{checkpoint, 0, {}});
  drain();
  services.run_steps();
  auto taken = chain->take_snapshot();
  REQUIRE(taken);
  REQUIRE(taken->failure);
  return *taken->failure;
}

state::task_state_snapshot chain_harness::snapshot(checkpoint_id checkpoint,
                                                   state::snapshot_kind kind) {
  graph::barrier split{checkpoint, 0, {}};
  if (kind == state::snapshot_kind::canonical) // a savepoint
    split.savepoint = std::make_shared<const graph::savepoint_order>();
  chain->add(split);
  drain();
  services.run_steps();
  auto taken = chain->take_snapshot();
  REQUIRE(taken);
  if (taken->failure)
    FAIL(to_string(*taken->failure));
  const auto storage = state::make_file_checkpoint_storage(*files_, "/harness", job_id{1, 1});
  REQUIRE(storage->begin(checkpoint));
  auto target = storage->open(storage->directory(checkpoint), {{2, 2}, how_.subtask, 0});
  REQUIRE(target);
  auto written = taken->content->run(**target);
  if (!written)
    FAIL(to_string(written.error()));
  REQUIRE((*target)->finish());
  return std::move(*written);
}

std::vector<graph::record_batch> chain_harness::take_batches(std::size_t result) {
  std::vector<graph::record_batch> out;
  std::vector<graph::stream_element> rest;
  for (auto& element : results.of(result)) {
    if (auto* rows = std::get_if<graph::record_batch>(&element))
      out.push_back(std::move(*rows));
    else
      rest.push_back(std::move(element));
  }
  results.of(result) = std::move(rest);
  return out;
}

std::vector<std::int64_t> chain_harness::take_watermarks() {
  std::vector<std::int64_t> out;
  std::vector<graph::stream_element> rest;
  for (auto& element : results.of(0)) {
    if (const auto* mark = std::get_if<graph::watermark>(&element))
      out.push_back(mark->time_ms);
    else
      rest.push_back(std::move(element));
  }
  results.of(0) = std::move(rest);
  return out;
}

graph::job_vertex vertex_of(graph::operator_spec spec, const graph::logical_type& input,
                            const graph::logical_type& output) {
  graph::job_vertex vertex;
  vertex.id = {2, 2};
  vertex.name = "test vertex";
  graph::operator_node node;
  node.id = {3, 3};
  node.name = "test operator";
  if (!std::holds_alternative<graph::source_spec>(spec))
    node.input_types = {input};
  node.output_type = output;
  node.spec = std::move(spec);
  vertex.operators.push_back(std::move(node));
  return vertex;
}

} // namespace headrace::testing
