#pragma once

#include "libstate/handle/state_handle.hpp"
#include "libstate/storage/state_stream.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/ids.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace headrace::state {

/// The files of one backend on the checkpoints' storage that several checkpoints share. They never
/// change, so that each is written once, and later snapshots of the same backend name it again.
///
/// A file belongs to the complete checkpoints that name it, and goes with the last of them, which
/// is their owner's to see to. One that no complete checkpoint names, because those that did were
/// aborted, is removed here when it cannot be named again. Shared by a backend and its snapshots'
/// jobs: any thread.
class shared_files {
public:
  struct stored {
    shared_file file;
    std::uint64_t checksum = 0;
  };

  /// The file of that name within the backend, as one that the checkpoint names; nothing: it is not
  /// there, or not for this target.
  std::optional<stored> use(std::string_view name, checkpoint_id checkpoint,
                            const snapshot_target& target);
  /// A file that was written for a checkpoint.
  void add(stored what, checkpoint_id checkpoint);
  /// A file of a complete checkpoint, that the backend began with.
  void adopt(stored what);
  /// Forgets files that only aborted checkpoints have named and that are no longer there: to who
  /// tidies up (`headrace checkpoints gc`) they belong to nobody. To be called before `use`; may
  /// block. @errors storage_failed
  status forget_removed(file_system& files);
  /// Forgets all others, which are not named again. @errors storage_failed
  status keep_only(const std::set<std::string_view>& names, file_system& files);

  void on_completed(checkpoint_id checkpoint);
  void on_aborted(checkpoint_id checkpoint);

private:
  struct entry {
    stored what;
    bool is_of_complete = false;       ///< a complete checkpoint has named it
    std::set<checkpoint_id> undecided; ///< checkpoints that name it
  };
  std::mutex mutex_;
  std::map<std::string, entry, std::less<>> entries_; ///< by name within the backend
};

} // namespace headrace::state
