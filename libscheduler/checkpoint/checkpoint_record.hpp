#pragma once

#include "libstate/checkpoint/checkpoint_storage.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/base/result.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headrace::scheduler {

/// Which checkpoint sinks may have committed behind.
struct recorded_checkpoint {
  checkpoint_id id = 0;
  std::string directory; ///< where it lay then
  friend bool operator==(const recorded_checkpoint&, const recorded_checkpoint&) = default;
};

/// Keeps the newest completed checkpoint of each job that a later job manager may run on, in a
/// small file `<directory>/<job id>.checkpoint`. Without it a lost checkpoint could not be told
/// from one that never was. Has no state of its own; may block: used on an executor.
class checkpoint_records {
public:
  /// `files` lives longer.
  checkpoint_records(file_system& files, std::string directory)
      : files_(&files), directory_(std::move(directory)) {}

  /// Returns when it is lasting. After an error either record may be the lasting one.
  status put(const job_id& job, const recorded_checkpoint& newest) const;
  /// Nothing when the job has none.
  /// @errors storage_failed  it cannot be read, or is not what was written
  result<std::optional<recorded_checkpoint>> get(const job_id& job) const;
  /// Removing what is not there succeeds.
  status remove(const job_id& job) const;

private:
  std::string path_of(const job_id& job) const;

  file_system* files_;
  std::string directory_;
};

/// Makes a checkpoint a lasting one: stores its manifest, then its record. Only then may it be
/// announced.
/// @param records  null: the job does not outlive the process
status store_completed(state::checkpoint_storage& storage, const checkpoint_records* records,
                       state::completed_checkpoint& checkpoint);

/// The failure of a job that cannot go on from where the last job manager left it. It stays stored,
/// so that the next one tries again.
error refused_recovery(const job_id& job, const error& why);
bool is_refused_recovery(const error& failure);

/// What a job goes on from when its job master is new.
struct recovered_checkpoints {
  std::vector<state::completed_checkpoint> completed; ///< oldest first; empty: there is none
  checkpoint_id last = 0;                             ///< no id up to this is free
  std::vector<error> refused; ///< those that could not be read, beside the one gone on from
};

/// Finds the complete checkpoints of a job. The newest of them is the recorded one or newer: an
/// older one would give the rows twice that sinks have committed since.
/// @param records  null: the newest that can be read is taken
/// @errors the reason why the recorded one cannot be read; corrupt_snapshot when there are some and
///         none can be read; storage_failed
result<recovered_checkpoints> recover_checkpoints(state::checkpoint_storage& storage,
                                                  const checkpoint_records* records,
                                                  const job_id& job);

} // namespace headrace::scheduler
