#pragma once

#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

struct file_info {
  /// As given to `stat`; in a listing the directory, a slash and the name.
  std::string path;
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ms = 0;
  bool is_directory = false;
  /// False for a pipe, a device, or a file that the kernel makes up while it is read (/proc).
  bool is_regular = true;
  /// Together the same for the same file or directory under any path; 0: not known.
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

/// Reads at any offset; safe to use from several threads at once.
class readable_file {
public:
  virtual ~readable_file() = default;
  virtual std::uint64_t size_bytes() const = 0;
  /// Fills `out` from `offset`; fewer bytes only at the end of the file. @returns bytes read
  virtual result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) = 0;
};

/// Appends; one thread at a time. May hold bytes back until `sync` or `close`. Dropping it without
/// `close` leaves a file of unknown length.
class writable_file {
public:
  virtual ~writable_file() = default;
  virtual status append(byte_view data) = 0;
  /// Returns when all that was appended is on the medium.
  virtual status sync() = 0;
  virtual status close() = 0;
};

/// The only way to storage. Calls may block: use them on an executor. Errors name the path and what
/// the system said; a full disk is `storage_full`, a missing file `file_not_found`.
class file_system {
public:
  virtual ~file_system() = default;
  virtual result<std::unique_ptr<readable_file>> open(const std::string& path) = 0;
  /// Creates or truncates.
  virtual result<std::unique_ptr<writable_file>> create(const std::string& path) = 0;
  /// Opens for appending after cutting the file to `size_bytes` (to resume an in-progress file).
  /// @errors storage_failed  the file is shorter than that, so bytes that were counted are lost
  virtual result<std::unique_ptr<writable_file>> resume(const std::string& path,
                                                        std::uint64_t size_bytes) = 0;
  /// Replaces `to` in one step; the parent directory is synced.
  virtual status rename(const std::string& from, const std::string& to) = 0;
  /// Gives a file that never changes a second name, without copying it.
  /// @errors storage_failed  they are on different devices, or `to` is there
  virtual status link(const std::string& from, const std::string& to) = 0;
  /// Removing what is not there succeeds.
  virtual status remove(const std::string& path) = 0;
  virtual status remove_tree(const std::string& path) = 0;
  virtual status create_directories(const std::string& path) = 0;
  /// Follows links. @errors file_not_found
  virtual result<file_info> stat(const std::string& path) = 0;
  /// Direct entries, sorted by name; links followed, and one to nothing is no regular file.
  /// @errors storage_failed  links lead to each other; names the first
  virtual result<std::vector<file_info>> list(const std::string& directory) = 0;

  /// Reads a whole file of at most `bytes_max`.
  result<byte_string> read_all(const std::string& path, std::uint64_t bytes_max);
  /// Writes to a temporary name, syncs, renames: after a crash the old or the new content is there.
  status write_atomically(const std::string& path, byte_view data);
};

/// The machine's POSIX file system.
std::unique_ptr<file_system> make_local_file_system();

} // namespace headrace
