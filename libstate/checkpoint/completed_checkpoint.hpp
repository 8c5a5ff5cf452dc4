#pragma once

#include "libstate/handle/state_handle.hpp"
#include "libactors/base/ids.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace headrace::state {

/// The state of one operator over all subtasks that ran it.
struct operator_state {
  operator_id id;
  std::string uid;  ///< that the user gave it; empty: none. For messages only
  std::string name; ///< the same
  std::int32_t parallelism = 1;
  std::int32_t max_parallelism = 128;
  std::map<std::int32_t, operator_subtask_state> subtasks; ///< those with state or a watermark
  byte_string coordinator; ///< of its operator coordinator; empty: none
  bool has_coordinator = false;

  /// Beside watermarks.
  bool has_state() const;
  friend bool operator==(const operator_state&, const operator_state&) = default;
};

enum class checkpoint_kind : std::uint8_t { checkpoint = 1, savepoint = 2 };

/// A checkpoint of which every subtask's part is stored. An immutable value; `_metadata` is its
/// stored form.
struct completed_checkpoint {
  job_id job;
  checkpoint_id id = 0;
  checkpoint_kind kind = checkpoint_kind::checkpoint;
  std::int64_t triggered_ms = 0;
  std::int64_t completed_ms = 0;
  std::map<operator_id, operator_state> operators;
  byte_string master_hooks; ///< of the coordinator itself
  std::string directory;    ///< where it lies; not stored: a savepoint may be moved

  std::uint64_t size_bytes() const;
  /// Of these, what `former` (null: none) does not have: shared files of both are left out.
  std::uint64_t new_bytes(const completed_checkpoint* former) const;
  friend bool operator==(const completed_checkpoint&, const completed_checkpoint&) = default;
};

/// Writes and reads the manifest: magic, version, body, checksum. Paths below `directory` are
/// stored relative to it, so that the directory can be moved.
byte_string encode_manifest(const completed_checkpoint& checkpoint);
/// @errors corrupt_snapshot, unsupported_snapshot_version; both name the path
result<completed_checkpoint> decode_manifest(byte_view stored, const std::string& directory);

} // namespace headrace::state
