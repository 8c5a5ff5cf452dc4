#pragma once

#include "libactors/base/ids.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace headrace::state {

/// Which local copies of one subtask's snapshots are kept: that of the newest checkpoint that is
/// complete, and those of checkpoints that may yet be. Files that several checkpoints share stay
/// while a kept one names them. Pure; says what is to be removed, by name.
class local_copy_book {
public:
  /// Checkpoints whose outcome is not known; of more the oldest copy goes. They are this many when
  /// words of their ends were lost.
  static constexpr std::size_t pending_max = 8;

  struct removal {
    std::vector<checkpoint_id> checkpoints;
    std::vector<std::string> shared;
    friend bool operator==(const removal&, const removal&) = default;
  };

  /// A copy is about to be made; ids rise.
  removal begin(checkpoint_id id);
  /// The copy of a checkpoint that was begun names a shared file.
  void use(checkpoint_id id, const std::string& shared);
  /// The checkpoint is complete: none before it is restored any more.
  removal complete(checkpoint_id id);
  /// The checkpoint, or its copy, came to nothing.
  removal abort(checkpoint_id id);
  /// The subtask begins from this checkpoint, whose files are these (0: from none).
  void restore(checkpoint_id id, std::set<std::string> shared);

  bool keeps(checkpoint_id id) const { return copies_.contains(id); }
  bool keeps_shared(const std::string& name) const;

private:
  using copies = std::map<checkpoint_id, std::set<std::string>>;
  void drop(copies::iterator first, copies::iterator end, removal& out);

  copies copies_;
  checkpoint_id completed_ = 0; ///< newest; 0: none
};

} // namespace headrace::state
