#pragma once

#include "libstate/handle/state_handle.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace headrace::state {

/// One file while it is written, under a temporary name. What is dropped before `finish` leaves
/// nothing behind. One thread at a time.
class state_output {
public:
  virtual ~state_output() = default;
  /// @errors storage_failed, storage_full
  virtual status append(byte_view data) = 0;
  virtual std::uint64_t position() const = 0;
  /// The name that the file will have.
  virtual const std::string& path() const = 0;
  /// Syncs, closes, renames: after this the file is whole and lasting.
  virtual status finish() = 0;
};

/// Where a subtask's snapshot jobs write: into one file that they share, one after the other.
class snapshot_target {
public:
  virtual ~snapshot_target() = default;
  /// The subtask's file of this checkpoint; made at the first call. Whoever owns the target
  /// finishes it once all jobs have run.
  virtual result<state_output*> output() = 0;
  /// A file that later checkpoints may share. `name` is unique in the subtask; the same file of the
  /// same attempt has the same path in each checkpoint, so writing it again changes nothing.
  /// @param local_source  a local file that never changes and that this will be a copy of; or empty
  virtual result<std::unique_ptr<state_output>> create_shared(const std::string& name,
                                                              const std::string& local_source) = 0;
  /// The snapshot names a shared file that is stored already; `local_source` as above.
  virtual void use_shared(const std::string& /*path*/, const std::string& /*local_source*/) {}
  /// Whether a file is one of those that this job's checkpoints share. Another job's may go any
  /// time; a savepoint shares none.
  virtual bool shares(const std::string& path) const = 0;
};

} // namespace headrace::state
