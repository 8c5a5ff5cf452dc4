#pragma once

#include "libgraph/data/record_batch.hpp"
#include "libgraph/function/function.hpp"
#include "libgraph/spec/operator_spec.hpp"
#include "libactors/base/random.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace headrace::task {

/// The rows of a batch that go to one target.
struct target_piece {
  std::uint32_t target = 0;
  graph::record_batch rows;
};

/// Decides which consumer gets which rows, for a whole batch at once. Lives on the task's mailbox.
class partitioner {
public:
  virtual ~partitioner() = default;
  /// Splits a batch that is not empty; appends at most one piece a target, rows in order.
  virtual void split(const graph::record_batch& in, std::vector<target_piece>& out) = 0;
};

/// What a partitioner is made from.
struct partitioner_setup {
  graph::partitioner_spec spec;
  std::uint32_t targets = 1;
  std::uint32_t subtask = 0;           ///< of the producer
  std::uint32_t max_parallelism = 128; ///< of the consumer, for hash
  std::uint64_t seed = 0;              ///< for shuffle
  std::unique_ptr<graph::custom_partitioner> custom;
};
/// @errors invalid_graph  a custom one without its function
result<std::unique_ptr<partitioner>> make_partitioner(partitioner_setup setup);

} // namespace headrace::task
