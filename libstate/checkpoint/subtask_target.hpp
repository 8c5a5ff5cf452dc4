#pragma once

#include "libstate/storage/state_stream.hpp"
#include "libactors/base/ids.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace headrace::state {

/// Names what one subtask writes into a checkpoint: a vertex's attempt cannot overwrite another's.
struct subtask_file {
  vertex_id vertex;
  std::int32_t subtask = 0;
  std::int32_t attempt = 0;
  std::int32_t generation = 0;
};

/// Where a subtask's stream has come to lie.
struct stream_place {
  std::string written_as; ///< its path while it was written, which its handles name
  std::string path;
  std::uint64_t offset = 0; ///< of its first byte
};

/// A subtask's part of one checkpoint while it is written. Dropped without `finish`, it leaves
/// nothing that counts.
class subtask_target : public snapshot_target {
public:
  /// Ends the part, if anything was written. Call it once all jobs have run; then say in their
  /// handles where it lies.
  virtual status finish() = 0;
  /// Nothing: it is not known yet, or nothing was written.
  virtual std::optional<stream_place> place() const = 0;
  /// Returns when a finished part is lasting: often at once, for others have waited for it too.
  virtual status settle() = 0;
};

} // namespace headrace::state
