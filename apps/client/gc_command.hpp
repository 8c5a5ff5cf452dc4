#pragma once

#include <cstdint>
#include <string>

namespace headrace::client {

/// What `headrace checkpoints gc` was told.
struct gc_options {
  std::string directory;         ///< of checkpoints, or of one job's
  std::int64_t minutes_old = 60; ///< what is newer may belong to a checkpoint that is being made
  bool is_dry_run = false;       ///< only lists
};

/// Removes, or lists, what lies among checkpoints and belongs to none. @returns the exit code
int run_gc(const gc_options& options);

} // namespace headrace::client
