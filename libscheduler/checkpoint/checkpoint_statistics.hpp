#pragma once

#include "libgraph/data/savepoint_order.hpp"
#include "libactors/base/error.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/message/message.hpp"
#include "schema/job.capnp.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace headrace::scheduler {

enum class checkpoint_outcome : std::uint8_t { in_progress, completed, failed };

/// What a subtask measured of its part of a checkpoint.
struct snapshot_figures {
  std::int64_t alignment_us = 0;
  std::uint64_t in_flight_bytes = 0; ///< stored, of what barriers have overtaken
  std::uint64_t processed_bytes = 0; ///< taken in between the first barrier and the last
  bool is_unaligned = false;
};

struct completed_size {
  std::uint64_t bytes = 0;
  std::uint64_t new_bytes = 0; ///< of them, what the checkpoint before it does not have
};

/// How one checkpoint went. A value. Times are of whoever calls, all by one clock.
struct checkpoint_record {
  checkpoint_id id = 0;
  checkpoint_outcome outcome = checkpoint_outcome::in_progress;
  bool is_savepoint = false;
  bool is_native = false; ///< of savepoints
  graph::savepoint_stop stop = graph::savepoint_stop::none;
  std::int64_t triggered_ms = 0;
  std::optional<std::int64_t> newest_acknowledgement_ms;
  std::optional<std::int64_t> ended_ms;
  std::uint64_t size_bytes = 0;
  std::uint64_t new_bytes = 0; ///< of them, what the checkpoint before it does not have
  std::int32_t subtasks = 0;
  std::int32_t acknowledged = 0;
  snapshot_figures
      figures; ///< sums over the subtasks; the longest alignment; one unaligned at least
  std::string directory;
  error failure;
};

/// Remembers how the last checkpoints of a job went, and counts all. Pure; lives in the checkpoint
/// coordinator's turns.
class checkpoint_statistics {
public:
  static constexpr std::size_t history_max = 10;

  /// @param savepoint  null: a checkpoint
  void begun(checkpoint_id id, const graph::savepoint_order* savepoint, std::int32_t subtasks,
             std::int64_t now_ms);
  void acknowledged(checkpoint_id id, const snapshot_figures& figures, std::int64_t now_ms);
  void completed(checkpoint_id id, const completed_size& size, std::string directory,
                 std::int64_t now_ms);
  void failed(checkpoint_id id, error why, std::int64_t now_ms);
  void restored(checkpoint_id id, bool is_savepoint, std::string directory, std::int64_t now_ms);

  std::uint32_t restored_count() const { return restored_count_; }
  std::uint32_t completed_count() const { return completed_count_; }
  std::uint32_t failed_count() const { return failed_count_; }
  const std::optional<checkpoint_record>& newest_restored() const { return newest_restored_; }
  /// Of checkpoints; savepoints have their own.
  const std::optional<checkpoint_record>& newest_completed() const { return newest_completed_; }
  const std::optional<checkpoint_record>& newest_savepoint() const { return newest_savepoint_; }
  const std::optional<checkpoint_record>& newest_failed() const { return newest_failed_; }
  const std::deque<checkpoint_record>& history() const { return history_; } ///< newest first

private:
  /// Null when it has ended, or is forgotten.
  checkpoint_record* find_running(checkpoint_id id);

  std::uint32_t restored_count_ = 0;
  std::uint32_t completed_count_ = 0;
  std::uint32_t failed_count_ = 0;
  std::optional<checkpoint_record> newest_restored_;
  std::optional<checkpoint_record> newest_completed_;
  std::optional<checkpoint_record> newest_savepoint_;
  std::optional<checkpoint_record> newest_failed_;
  std::deque<checkpoint_record> history_;
};

/// @param to_wall_ms  what to add to the times to make them times of day
message<schema::CheckpointOverview> describe(const checkpoint_statistics& statistics,
                                             std::int64_t to_wall_ms);

} // namespace headrace::scheduler
