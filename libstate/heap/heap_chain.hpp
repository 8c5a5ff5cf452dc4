#pragma once

#include "libstate/heap/increment_policy.hpp"
#include "libstate/heap/row_changes.hpp"
#include "libstate/storage/shared_files.hpp"
#include "libstate/storage/state_stream.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/ids.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace headrace::state {

/// What of a heap backend is on the checkpoints' storage: a file with all rows, and increments.
/// Each native snapshot takes what has changed since the one before, and its job writes that behind
/// the chain; what a job did not write the next one does. Shared by a backend and its jobs.
///
///     snapshots    1        2         3              whole ◀─ 1 ◀─ 2 ∪ 3
///     jobs         written  failed    writes 2 ∪ 3
class heap_chain {
public:
  /// Changes of one directory, as a snapshot has taken them.
  using taken_marks = std::vector<std::pair<std::uint64_t, row_marks>>;

  using directory_rows = std::map<std::uint64_t, std::uint64_t>;

  struct stored_element {
    shared_files::stored stored;
    std::uint64_t rows = 0;
  };

  /// What a job is to write, and behind what.
  struct order {
    bool is_whole = false;
    bool is_apart =
        false;          ///< a later snapshot has gone on: what is written is no part of the chain
    change_set changed; ///< unless whole
    std::uint64_t rows = 0;
    std::vector<stored_element> behind; ///< named by the snapshot, in order
    std::size_t absorbed = 0;
  };

  /// On the mailbox. @returns the snapshot's number
  std::uint64_t take(taken_marks marks);
  /// The job of a snapshot has ended, or will never run.
  void let_go(std::uint64_t number);

  /// Jobs write one after the other: held from `plan` to `written`.
  std::unique_lock<std::mutex> begin_turn() { return std::unique_lock(turn_); }
  /// See shared_files: before `plan`.
  status forget_removed(file_system& files) { return files_.forget_removed(files); }
  /// @param rows  that there are, by directory; changes of others do not matter
  order plan(std::uint64_t number, const directory_rows& rows, checkpoint_id checkpoint,
             const snapshot_target& target);
  /// The order was carried out into a file that checkpoints share.
  status written(std::uint64_t number, checkpoint_id checkpoint, order what,
                 shared_files::stored file, file_system& files);

  /// The backend begins with a chain of a complete checkpoint.
  /// @param changed  of each element: of the whole one none
  void adopt(std::vector<stored_element> chain, std::vector<change_set> changed);
  void on_completed(checkpoint_id checkpoint) { files_.on_completed(checkpoint); }
  void on_aborted(checkpoint_id checkpoint) { files_.on_aborted(checkpoint); }

private:
  struct element {
    std::string name;
    change_set changed; ///< of the whole one: none
    std::uint64_t rows = 0;
  };
  struct pending {
    taken_marks marks;
    bool is_let_go = false;
  };
  change_set changes_up_to(std::uint64_t number);
  void merge_abandoned();

  std::mutex turn_;  ///< of jobs; before mutex_
  std::mutex mutex_; ///< of what is below
  std::vector<element> chain_;
  std::uint64_t newest_ = 0;                 ///< number of the snapshot that wrote its last element
  std::map<std::uint64_t, pending> pending_; ///< snapshots whose changes are not in the chain
  change_set abandoned_; ///< changes of snapshots that came to nothing, older than all pending ones
  std::uint64_t taken_ = 0;
  shared_files files_;
};

} // namespace headrace::state
