#pragma once

#include "libtask/network/result_partition.hpp"
#include "libtask/operator/operator_chain.hpp"
#include "libgraph/data/stream_element.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace headrace::task {

/// What the barriers of one checkpoint have overtaken at one subtask.
struct in_flight_data {
  /// What waited to be taken in, by channel over all gates.
  std::map<std::size_t, std::vector<graph::stream_element>> inputs;
  struct output {
    std::size_t partition = 0;
    overtaken_elements elements;
  };
  /// What waited to be sent.
  std::vector<output> outputs;
  struct rescaled_output {
    std::size_t partition = 0;
    std::vector<graph::record_batch> rows;
  };
  /// What waited to be sent when there were more or fewer consumers: to be dealt out anew.
  std::vector<rescaled_output> rescaled_outputs;

  bool is_empty() const { return inputs.empty() && outputs.empty() && rescaled_outputs.empty(); }
};

/// A checkpoint that one subtask has begun.
struct begun_checkpoint {
  graph::barrier barrier; ///< as it is given on
  std::int64_t first_barrier_us = 0;
  /// When a barrier that still waits for credit overtakes what is before it.
  std::optional<std::int64_t> deadline_us;
  std::int64_t alignment_us = 0;     ///< from the first barrier to the last
  std::uint64_t processed_bytes = 0; ///< taken in meanwhile
  bool is_unaligned = false;         ///< at the inputs, or at an output
  bool awaits_channels = false;      ///< barriers are to come
  bool awaits_outputs = false;       ///< barriers may be to be sent
  in_flight_data in_flight;
  std::optional<operator_chain::finished_snapshot> snapshot;

  checkpoint_id id() const { return barrier.checkpoint; }
  bool is_ready() const { return snapshot && !awaits_channels && !awaits_outputs; }
};

/// The checkpoints that one subtask has begun and not given on: their parts come from the chain,
/// the input and the results, in any order. Pure. Lives on the task's mailbox.
class begun_checkpoints {
public:
  begun_checkpoint& begin(begun_checkpoint what) { return all_.emplace_back(std::move(what)); }
  /// Null: it was not begun, or is given up.
  begun_checkpoint* find(checkpoint_id checkpoint);
  /// Those up to this one are given up: nothing more is awaited but the chain's snapshot.
  void abort(checkpoint_id checkpoint);
  void add(operator_chain::finished_snapshot snapshot);
  /// The next one of which all is there.
  std::optional<begun_checkpoint> take();
  std::deque<begun_checkpoint>& all() { return all_; }
  const std::deque<begun_checkpoint>& all() const { return all_; }

private:
  std::deque<begun_checkpoint> all_;
};

} // namespace headrace::task
