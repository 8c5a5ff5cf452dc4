#pragma once

#include "libstate/checkpoint/completed_checkpoint.hpp"
#include "libstate/checkpoint/subtask_target.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/ids.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headrace::state {

/// Checkpoints of one job under one directory:
///
///     <root>/<job>/chk-<id>/<vertex>-<subtask>-<generation>-<attempt>   what subtasks wrote: see
///                                                          snapshot_segments
///                          /_metadata                      the manifest, last: without it the
///                                                          directory is no checkpoint
///     <root>/<job>/shared/                                 files that several checkpoints share
///     <root>/savepoint-<job>-<id>/…                        savepoints, self-contained
///
/// Each file is written to a temporary name, synced, renamed. May block: use it on an executor. The
/// coordinator's side (`complete`, `list`, `remove`) is used by one thread at a time.
class checkpoint_storage {
public:
  virtual ~checkpoint_storage() = default;

  /// Makes the directory; what an aborted attempt of the same id left there is removed.
  virtual status begin(checkpoint_id id) = 0;
  virtual std::string directory(checkpoint_id id) const = 0;
  /// Makes the directory of a savepoint, which may not be there yet.
  /// @errors storage_failed, storage_full
  virtual status begin_savepoint(const std::string& directory) = 0;
  /// Opens a part with a file of its own below a checkpoint's directory: see snapshot_segments.
  virtual result<std::unique_ptr<subtask_target>> open(const std::string& checkpoint_directory,
                                                       const subtask_file& name,
                                                       bool is_savepoint = false) = 0;

  /// Writes the manifest: from now on it is a checkpoint. Sets `directory` where it is empty; that
  /// of a savepoint is not.
  virtual status complete(completed_checkpoint& checkpoint) = 0;
  /// Ids of the complete checkpoints, ascending. Half-written ones are not among them.
  virtual result<std::vector<checkpoint_id>> list() = 0;
  /// @errors file_not_found, corrupt_snapshot, unsupported_snapshot_version
  virtual result<completed_checkpoint> read(checkpoint_id id) = 0;
  /// Removes a checkpoint, manifest first, and the shared files of the job that no `kept`
  /// checkpoint uses.
  virtual status remove(const completed_checkpoint& checkpoint,
                        const std::vector<completed_checkpoint>& kept) = 0;
  /// Removes what was begun and is not complete.
  virtual status abort(checkpoint_id id) = 0;
  virtual status abort_savepoint(const std::string& directory) = 0;
  /// Removes all but the newest `count` (at least 1) complete checkpoints. @returns the kept ids
  virtual result<std::vector<checkpoint_id>> retain(std::size_t count) = 0;
  /// Removes the job's directory unless there is something in it.
  /// @param is_over  nobody writes there any more, and what killed processes left of checkpoints
  ///        that are not complete goes first
  virtual status leave(bool is_over) = 0;
};

/// Over a file system (lives longer), below `root`.
std::unique_ptr<checkpoint_storage> make_file_checkpoint_storage(file_system& files,
                                                                 std::string root, job_id job);
/// Reads the checkpoint or savepoint in a directory (or named by the path of its `_metadata`).
/// @errors file_not_found, corrupt_snapshot, unsupported_snapshot_version
result<completed_checkpoint> read_checkpoint(file_system& files, const std::string& path);

} // namespace headrace::state
