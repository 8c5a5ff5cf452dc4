#pragma once

#include "libtask/operator/chain_snapshot.hpp"
#include "libstate/checkpoint/local_copies.hpp"
#include "libstate/checkpoint/snapshot_segments.hpp"
#include "libactors/message/message.hpp"
#include "schema/checkpoint.capnp.h"

#include <cstdint>
#include <memory>
#include <string>

namespace headrace::task {

/// The asynchronous part of one subtask's checkpoint: where it goes, and what was measured so far.
struct snapshot_order {
  execution_attempt_id attempt;
  std::string job_checkpoint_directory; ///< below it one directory a checkpoint
  std::int64_t alignment_us = 0;
  std::int64_t synchronous_us = 0;
  std::int64_t asynchronous_us = 0; ///< set once it is written
  std::string savepoint_directory;  ///< empty: a plain checkpoint
  std::uint64_t processed_bytes = 0;
  bool is_unaligned = false;
};

/// A subtask's part of a checkpoint that is written, and not yet lasting.
struct written_snapshot {
  state::task_state_snapshot state;
  std::unique_ptr<state::subtask_target> part; ///< to be settled; null: there is nothing

  /// May block: on an executor. @errors storage_failed, storage_full
  status settle() { return part == nullptr ? status() : part->settle(); }
};

/// Writes a snapshot into a segment of its checkpoint. May block and take long: on an executor.
/// What fails leaves nothing that counts. @errors storage_failed, storage_full
/// @param copies  where a local copy of a checkpoint goes; null: nowhere. Lives longer than the
/// part
result<written_snapshot> write_snapshot(chain_snapshot& content, const snapshot_order& order,
                                        state::snapshot_segments& segments,
                                        state::local_copies* copies);

/// What the subtask tells the checkpoint coordinator of it.
message<schema::AcknowledgeCheckpoint> acknowledge(const state::task_state_snapshot& written,
                                                   checkpoint_id checkpoint,
                                                   const snapshot_order& order);

} // namespace headrace::task
