#pragma once

#include "libstate/checkpoint/subtask_target.hpp"
#include "libactors/base/file_system.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace headrace::state {

/// The files into which the subtasks of one task executor write their parts of checkpoints: one a
/// checkpoint, as long as it is small.
///
///     subtask 1 ──▶ held in memory ──── whole ───▶ ┌────┬────┬─────────┬────┐
///     subtask 2 ──▶ held in memory ──── whole ───▶ │  1 │  2 │    3    │  4 │  one segment
///     subtask 3 ──▶ much: takes the segment ─────▶ └────┴────┴─────────┴────┘
///     subtask 4 ──▶ …meanwhile the others begin a further one
///
/// A segment is named for the subtask that began it. What is finished is not lasting yet: who
/// settles syncs the segment for all who have finished. A write that fails fails the checkpoint's
/// parts in that segment that are not settled, and nothing else. Any thread; calls may block.
class snapshot_segments {
public:
  /// What a subtask writes is held in memory up to so much.
  static constexpr std::size_t held_bytes_max = 1U << 20U;
  /// Checkpoints for which further parts find the segments that there are.
  static constexpr std::size_t checkpoints_max = 64;

  /// @param files       lives longer than this and all targets
  /// @param full_bytes  a segment of that size takes no more; 0: each part has a file of its own
  snapshot_segments(file_system& files, std::uint64_t full_bytes);

  /// Opens a subtask's part below a checkpoint's directory; files that checkpoints share go beside
  /// that. One that has a file of its own is settled when it is finished.
  /// @param is_savepoint  also files that checkpoints would share go into that directory
  std::unique_ptr<subtask_target> open(const std::string& directory, const subtask_file& name,
                                       bool is_savepoint);

private:
  class pool;
  class stream;
  class target;
  /// The same checkpoint may be taken anew by the next job manager, over a removed directory.
  using pool_key = std::pair<std::string, std::int32_t>; ///< directory, generation
  std::shared_ptr<pool> pool_of(const pool_key& key);

  file_system* files_;
  std::uint64_t full_bytes_;
  std::mutex mutex_; ///< of what is below
  std::map<pool_key, std::shared_ptr<pool>> pools_;
  std::deque<pool_key> opened_; ///< newest last
};

} // namespace headrace::state
