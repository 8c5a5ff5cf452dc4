#pragma once

#include "test/support/scratch_directory.hpp"
#include "libtask/operator/operator_chain.hpp"
#include "libstate/backend/keyed_backend.hpp"
#include "libactors/base/manual_clock.hpp"

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headrace::testing {

/// Stands in for the subtask: steps for the executor wait until the test runs them.
class testing_services final : public task::operator_services {
public:
  void run_blocking(std::function<void()> step, std::function<void()> then) override {
    steps.emplace_back(std::move(step), std::move(then));
  }
  void after(std::chrono::milliseconds delay, std::function<void()> action) override {
    delayed.emplace_back(delay, std::move(action));
  }
  std::function<void()> waker() override {
    return [wakes = wakes] { ++*wakes; };
  }
  void send_to_coordinator(operator_id, byte_string event) override {
    events.push_back(std::move(event));
  }
  void fail(error cause) override { failures.push_back(std::move(cause)); }

  /// Runs one step and what follows it. @returns false when none waits
  bool run_step();
  /// Runs all, also those that follow, at most `most`.
  void run_steps(int most = 1000);

  std::deque<std::pair<std::function<void()>, std::function<void()>>> steps;
  std::vector<std::pair<std::chrono::milliseconds, std::function<void()>>> delayed;
  std::shared_ptr<std::atomic<int>> wakes = std::make_shared<std::atomic<int>>(0);
  std::vector<byte_string> events;
  std::vector<error> failures;
};

/// What left a chain through its results: one list of elements a result.
class recorded_results final : public task::chain_results {
public:
  void emit(std::size_t result, graph::record_batch rows) override;
  void broadcast(std::size_t result, const graph::stream_element& element) override;
  std::vector<graph::stream_element>& of(std::size_t result);

private:
  std::vector<std::vector<graph::stream_element>> elements_;
};

/// Drives the operators of one vertex without actors: push, drain with tiny budgets, snapshot and
/// restore over a file system of the test.
class chain_harness {
public:
  struct options {
    std::int32_t subtask = 0;
    std::int32_t parallelism = 1;
    std::int32_t max_parallelism = 8;
    bool checkpointing = false;
    task::drain_budget budget{3, 1U << 20U};
    bool periodic_checkpoints = false;
    std::string backend = "hashmap";
    std::int32_t committer_retries = 10;
    job_id job{};
  };
  /// `vertex` has at least one operator; without results, the last operator's main output is one.
  explicit chain_harness(graph::job_vertex vertex, graph::function_table functions = {});
  chain_harness(graph::job_vertex vertex, graph::function_table functions, options how,
                headrace::file_system* files = nullptr);
  ~chain_harness();

  /// Opens without state, or with what `snapshot` gave.
  void open(const state::task_state_snapshot& from = {});
  /// The same, where it may fail. @param may_drop_state  that nobody takes
  status try_open(const state::task_state_snapshot& from, bool may_drop_state = false);
  void push(graph::record_batch rows) { push(0, std::move(rows)); }
  void push(std::int32_t input, graph::record_batch rows);
  void watermark(std::int64_t time_ms);
  void end();
  /// Steps until drained or blocked; fails the test on an error.
  void drain();
  /// Steps until drained, and gives the error that came.
  std::optional<error> drain_to_failure();
  /// Lets a barrier through, runs the steps of sinks, and writes the snapshot.
  state::task_state_snapshot snapshot(checkpoint_id checkpoint,
                                      state::snapshot_kind kind = state::snapshot_kind::native);
  /// The same, of one that fails.
  error failed_snapshot(checkpoint_id checkpoint);

  /// Rows of result 0 since the last call, as one list of batches.
  std::vector<graph::record_batch> take_batches(std::size_t result = 0);
  std::vector<std::int64_t> take_watermarks();

  graph::connector_registry connectors;
  testing_services services;
  task::task_metrics metrics;
  manual_clock time;
  recorded_results results;
  std::unique_ptr<task::operator_chain> chain;
  task::operator_factories factories;

private:
  options how_;
  graph::job_vertex vertex_;
  std::shared_ptr<graph::job_code> code_;
  headrace::file_system* files_;
  scratch_directory scratch_; ///< for backends with files of their own
  std::unique_ptr<state::state_backend> backend_;
};

/// A vertex of one operator, over `input` and `output` types.
graph::job_vertex vertex_of(graph::operator_spec spec, const graph::logical_type& input,
                            const graph::logical_type& output);

} // namespace headrace::testing
