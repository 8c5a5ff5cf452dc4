#pragma once

#include "libactors/base/file_system.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::state {

/// What lies among checkpoints and belongs to none.
struct orphan {
  enum class kind : std::uint8_t {
    incomplete_checkpoint, ///< its directory has no manifest
    incomplete_savepoint,
    shared_file, ///< no complete checkpoint of its job refers to it
  };
  kind what = kind::incomplete_checkpoint;
  std::string path;
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ms = 0; ///< of its newest file
};

/// Finds what aborted checkpoints, savepoints and ended processes left below a directory of
/// checkpoints (`execution.checkpointing.dir`), or in that of one job. What is newer than
/// `before_ms` (time of day) may belong to a checkpoint that is being made, and is left out. A job
/// one of whose checkpoints cannot be read has no orphans among its shared files. May block.
/// @errors file_not_found, also of a directory with neither a job's nor a savepoint; storage_failed
result<std::vector<orphan>> find_orphans(file_system& files, const std::string& root,
                                         std::int64_t before_ms);
/// @errors storage_failed
status remove_orphan(file_system& files, const orphan& what);

} // namespace headrace::state
