#pragma once

#include "libactors/base/bytes.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace headrace::state {

/// A file that several write into, one piece behind the other, and that is synced for all of them
/// at once.
///
///     ├─ settled ─┤─ placed ─┤─ being written by the one who took it ─┤
///
/// It has a temporary name until it is settled for the first time, and is closed whenever it is
/// settled. What lies behind the last whole piece counts for nothing, and is cut off before more is
/// written. After a failure it takes nothing more, and only what was settled before counts. Any
/// thread; calls may block.
class segment_file {
public:
  /// @param full_bytes  with so many bytes it takes no more pieces; 0: it takes one
  segment_file(file_system& files, std::string path, std::uint64_t full_bytes);
  /// What was never settled goes.
  ~segment_file();
  segment_file(const segment_file&) = delete;
  segment_file& operator=(const segment_file&) = delete;

  const std::string& path() const { return path_; }

  /// Places a whole piece. @returns its offset; nothing: another file is to be used
  /// @errors storage_failed, storage_full
  result<std::optional<std::uint64_t>> append(byte_view piece);

  /// From now on `extend` alone writes, until it is given back.
  /// @returns the offset of what will be written; nothing: another file is to be used
  std::optional<std::uint64_t> take();
  status extend(byte_view data);
  /// @param is_whole  what was written since `take` is a piece; else it counts for nothing
  void give_back(bool is_whole);

  /// Returns when all up to `end` is lasting, under the file's name.
  status settle(std::uint64_t end);
  /// Whether it will never take a piece again.
  bool is_done() const;

private:
  bool takes_more() const {
    return !failure_ && !is_taken_ && (placed_ == 0 || placed_ < full_bytes_);
  }
  std::string current_path() const;
  status open();
  status write(byte_view data);
  /// Keeps what failed. @returns it
  error fail(error cause);

  file_system* files_;
  std::string path_;
  std::uint64_t full_bytes_;
  mutable std::mutex mutex_; ///< of all below
  std::unique_ptr<writable_file> file_;
  bool is_created_ = false;
  bool is_named_ = false; ///< it has its own name
  bool is_taken_ = false;
  std::uint64_t settled_ = 0;
  std::uint64_t placed_ = 0;
  std::uint64_t written_ = 0;
  std::optional<error> failure_;
};

} // namespace headrace::state
