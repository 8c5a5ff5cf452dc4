#pragma once

#include "test/support/manual_clock.hpp"
#include "test/support/scratch_directory.hpp"
#include "test/support/testing_file_system.hpp"
#include "libtask/operator/stream_operator.hpp"
#include "libstate/backend/keyed_backend.hpp"
#include "libgraph/data/record_batch.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

namespace headrace::testing {

/// Runs one operator with keyed state, in one subtask until `restart`, and keeps what it emits.
/// Fails the process on a failed call, except of those that give a status.
class operator_harness {
public:
  using maker = std::function<result<std::unique_ptr<task::stream_operator>>(
      const graph::operator_node&, const task::operator_context&)>;
  /// `functions`: what the node's function_refs name. `backend`: "hashmap" or "rocksdb".
  operator_harness(graph::operator_node node, const maker& make,
                   graph::function_table functions = {}, std::string_view backend = "hashmap");
  ~operator_harness();

  /// Takes rows and drains.
  status push(const graph::record_batch& rows);
  status advance(std::int64_t watermark_ms);
  status end_input();
  /// A barrier comes, and what must be before it is emitted.
  status barrier();
  /// The clock has come to `next_processing_time_ms`, where that is wanted.
  status tick();
  /// A barrier comes: stores the keyed state (of the backend's own form, or canonical) and goes on
  /// from it, on any backend, in several subtasks: each has a part of the key groups and gets the
  /// rows of its own.
  void restart(std::int32_t parallelism, std::string_view backend,
               std::vector<std::int32_t> key_columns, state::snapshot_kind kind);
  /// The same in one subtask of a changed operator, which may be refused.
  status restart_as(graph::operator_node node, std::string_view backend, state::snapshot_kind kind);
  /// Rows of keyed state, of all subtasks.
  std::uint64_t state_rows() const;
  /// The rows one `drain` may emit from now on.
  void set_budget(std::size_t rows_max) { budget_.rows_max = rows_max; }
  /// Drains that were needed since the last call, counting the one that said done.
  int take_drains() { return std::exchange(drains_, 0); }

  /// What came out of the main output since the last call, one batch an emit.
  std::vector<graph::record_batch> take() { return std::exchange(main_, {}); }
  std::vector<graph::record_batch> take_side(std::int32_t side);
  task::task_metrics& metrics() { return metrics_; }
  manual_clock& clock() { return clock_; }

private:
  class output;
  class services;
  struct subtask {
    std::unique_ptr<state::keyed_backend> keyed;
    std::unique_ptr<task::stream_operator> made;
  };
  std::vector<state::keyed_state_handle> store(state::snapshot_kind kind);
  status open(std::int32_t parallelism, std::string_view backend,
              const std::vector<state::keyed_state_handle>& stored);
  status drain(subtask& of);
  template <class Give>
  status each(const Give& give);

  graph::operator_node node_;
  maker make_;
  manual_clock clock_;
  testing_file_system files_;
  scratch_directory scratch_;
  graph::connector_registry connectors_;
  task::task_metrics metrics_;
  std::unique_ptr<services> services_;
  std::unique_ptr<task::operator_context> context_;
  std::unique_ptr<state::state_backend> backends_;
  std::vector<subtask> subtasks_;
  std::vector<std::int32_t> key_columns_; ///< with several subtasks
  int opened_ = 0;
  std::int64_t watermark_ms_ = graph::watermark::none;
  task::drain_budget budget_;
  int drains_ = 0;
  std::vector<graph::record_batch> main_;
  std::map<std::int32_t, std::vector<graph::record_batch>> sides_;
};

} // namespace headrace::testing
