#pragma once

#include "libgraph/data/record_batch.hpp"
#include "libgraph/data/savepoint_order.hpp"
#include "libactors/base/ids.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <variant>

namespace headrace::graph {

/// No row with a timestamp at or below `time_ms` follows (but late ones).
struct watermark {
  std::int64_t time_ms = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t end =
      std::numeric_limits<std::int64_t>::max(); ///< of bounded input
  friend bool operator==(const watermark&, const watermark&) = default;
};

/// An idle input is left out when the watermarks of inputs are combined.
struct watermark_status {
  bool idle = false;
  friend bool operator==(const watermark_status&, const watermark_status&) = default;
};

enum class barrier_alignment : std::uint8_t {
  exactly_once,  ///< channels whose barrier came wait for the others
  at_least_once, ///< barriers are only counted
  unaligned,     ///< the barrier overtakes what is in flight, and that is stored
};

/// Splits the stream: rows before it are in checkpoint `checkpoint`, rows after it are not.
struct barrier {
  checkpoint_id checkpoint = 0;
  std::int64_t timestamp_ms = 0; ///< when the coordinator triggered it
  barrier_alignment alignment = barrier_alignment::exactly_once;
  std::shared_ptr<const savepoint_order> savepoint = nullptr; ///< null: a plain checkpoint
  /// Of an exactly-once one: how long after its trigger it becomes unaligned where it is not
  /// aligned yet. -1: never.
  std::int64_t aligned_timeout_ms = -1;

  /// Whether it overtakes what is in flight, now or once its time is over.
  bool may_overtake() const {
    return alignment == barrier_alignment::unaligned ||
           (alignment == barrier_alignment::exactly_once && aligned_timeout_ms >= 0);
  }
  friend bool operator==(const barrier& left, const barrier& right) {
    const bool are_alike = left.savepoint && right.savepoint ? *left.savepoint == *right.savepoint
                                                             : left.savepoint == right.savepoint;
    return are_alike && left.checkpoint == right.checkpoint &&
           left.timestamp_ms == right.timestamp_ms && left.alignment == right.alignment &&
           left.aligned_timeout_ms == right.aligned_timeout_ms;
  }
};

struct end_of_input {
  friend bool operator==(const end_of_input&, const end_of_input&) = default;
};

struct latency_marker {
  std::int64_t emitted_us = 0;
  std::int32_t source_subtask = 0;
  friend bool operator==(const latency_marker&, const latency_marker&) = default;
};

/// All that flows between operators: in band, in order.
using stream_element =
    std::variant<record_batch, watermark, watermark_status, barrier, end_of_input, latency_marker>;

} // namespace headrace::graph
