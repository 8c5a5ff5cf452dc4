#pragma once

#include "libactors/base/bytes.hpp"
#include "libactors/base/ids.hpp"

#include <cstdint>

namespace headrace::graph {

/// Takes part in a job's checkpoints for a system outside the job, where they are coordinated: it
/// is called as each one begins, and what it answers is stored with it and given back when the job
/// starts from it. Flink's MasterTriggerRestoreHook.
///
/// There is one of each in a job, in the job manager's process. Calls may block, and come one at a
/// time, on any thread. One that takes longer than a checkpoint may
/// (`execution.checkpointing.timeout`) fails that, or the start, and later calls wait for it.
class master_hook {
public:
  virtual ~master_hook() = default;

  /// A checkpoint or savepoint begins: its tasks are told once this has returned. What throws fails
  /// it. Of one that fails later, for any reason, nothing more is heard.
  /// @returns what is stored with it; may be empty
  virtual byte_string trigger_checkpoint(checkpoint_id checkpoint, std::int64_t timestamp_ms) = 0;
  /// Before tasks start, or some start again, from a checkpoint that has state of this hook, behind
  /// `reset`. What throws fails the start.
  virtual void restore_checkpoint(checkpoint_id checkpoint, byte_view state) = 0;
  /// Before tasks start, or some start again, from whatever.
  virtual void reset() {}
  /// The job is over, or goes on under another job manager. What throws is lost.
  virtual void close() {}
};

} // namespace headrace::graph
