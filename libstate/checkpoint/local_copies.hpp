#pragma once

#include "libstate/checkpoint/checkpoint_storage.hpp"
#include "libstate/checkpoint/local_copy_book.hpp"
#include "libstate/storage/local_first_files.hpp"
#include "libactors/base/file_system.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace headrace::state {

/// The local copies of one subtask's snapshots, on the machine that runs it: written beside what
/// goes to the checkpoints' storage, and restored from when the subtask starts again there. A copy
/// that cannot be written is left out; no checkpoint fails by it.
///
///     <directory>/chk-<id>/<file>      as on the storage, below the job's directory
///                         /<file>@<n>  the subtask's own part of it, which begins at byte n
///                /shared/<file>        files that several checkpoints share; hard links where the
///                                      backend has the same file on this disk
///
/// Nothing is synced: what a crash of the machine leaves is found wrong when it is read. Any
/// thread; calls may block.
class local_copies {
public:
  /// @param directory  of this subtask alone; outlives its attempts
  /// @param stored     the directory of the job's checkpoints
  local_copies(file_system& files, std::string directory, std::string stored);

  /// What a checkpoint's part goes through so that it is copied. The target lives no longer than
  /// this.
  std::unique_ptr<subtask_target> copy(std::unique_ptr<subtask_target> part, checkpoint_id id);
  /// Whether there has been no copy yet: never blocks.
  bool is_empty() const { return !is_used_.load(std::memory_order_relaxed); }
  void on_completed(checkpoint_id id);
  void on_aborted(checkpoint_id id);

  /// Files to restore from.
  std::unique_ptr<local_first_files> restoring() const;
  /// The subtask begins from this checkpoint (0: from none): all other copies go.
  void on_restored(checkpoint_id id, const task_state_snapshot& from);

  /// The first failure since the last call.
  std::optional<error> take_failure();

private:
  class copied_target;
  class copied_output;
  void remove(const local_copy_book::removal& what);
  void note(status outcome);
  void give_up(checkpoint_id id, error cause);
  /// A shared file that the copy names, to be written; nothing: it need not be, or cannot be made.
  std::unique_ptr<writable_file> begin_shared(checkpoint_id id, const std::string& name,
                                              const std::string& local_source);
  void use_shared(checkpoint_id id, const std::string& name, const std::string& local_source);
  void link_shared(const std::string& name, const std::string& local_source);
  std::string directory_of(checkpoint_id id) const;
  std::string shared_directory() const { return directory_ + "/shared"; }

  file_system* files_;
  std::string directory_;
  std::string stored_;
  std::atomic<bool> is_used_ = false;
  std::mutex mutex_; ///< of all below, and of files' names in the directory
  local_copy_book book_;
  std::optional<error> failure_;
};

} // namespace headrace::state
