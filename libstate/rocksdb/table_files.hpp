#pragma once

#include "libstate/handle/state_handle.hpp"
#include "libstate/rocksdb/snapshot_cut.hpp"
#include "libstate/storage/local_first_files.hpp"
#include "libstate/storage/shared_files.hpp"
#include "libstate/storage/state_stream.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/ids.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace headrace::state {

/// Makes a local directory and those above it. @errors storage_failed, storage_full
status make_local_directories(const std::string& path);
/// Removes a local directory and its files. What cannot be removed is left for the next start.
void remove_local_directory(const std::string& path);
/// The first `bytes` of a local file. @errors storage_failed
result<byte_string> read_local(const std::string& path, std::uint64_t bytes);
/// Creates or replaces a local file. @errors storage_failed, storage_full
status write_local(const std::string& path, byte_view content);

/// Gives a table file of a checkpoint in pieces, and verifies it; nothing of it counts until then.
/// @errors corrupt_snapshot, storage_failed, those of `take`
status read_table(file_system& files, const shared_file& from, std::uint64_t checksum,
                  const std::function<status(byte_view)>& take);
/// Reads all that a native snapshot consists of.
/// @errors corrupt_snapshot, unsupported_snapshot_version, storage_failed; all name the path
status check_native(file_system& files, const keyed_state_handle& handle);

/// Copies a table file of a checkpoint into a local directory, and verifies it.
/// @errors corrupt_snapshot, storage_failed, storage_full
status download(file_system& files, const shared_file& from, std::uint64_t checksum,
                const std::string& directory);

/// The same, but links a local copy into the directory where there is a right one.
/// @errors corrupt_snapshot, storage_failed, storage_full
status take_over(local_first_files& files, const shared_file& from, std::uint64_t checksum,
                 const std::string& directory);

/// The table files of one database that are on the checkpoints' storage (see shared_files), but for
/// small ones, which lie in each snapshot's own stream. Shared by a backend and its snapshots'
/// jobs, which upload one at a time.
class uploaded_files {
public:
  explicit uploaded_files(std::uint64_t inline_bytes_max) : inline_bytes_max_(inline_bytes_max) {}

  struct uploaded {
    std::vector<shared_file> files;
    std::vector<std::uint64_t> checksums; ///< parallel
  };

  /// Writes what is not there yet. Waits for another upload of this database; may take long.
  /// @param owner  begins the names of shared files
  /// @errors storage_failed, storage_full, checkpoint_expired when `is_canceled`
  result<uploaded> upload(checkpoint_id checkpoint, const live_files& live,
                          const std::string& directory, const std::string& owner,
                          snapshot_target& target, file_system& files,
                          const std::atomic<bool>& is_canceled);
  /// Files that the database began with, of a complete checkpoint.
  void adopt(const std::vector<shared_file>& files, const std::vector<std::uint64_t>& checksums);

  void on_completed(checkpoint_id checkpoint) { files_.on_completed(checkpoint); }
  void on_aborted(checkpoint_id checkpoint) { files_.on_aborted(checkpoint); }

private:
  std::uint64_t inline_bytes_max_;
  std::mutex uploading_; ///< one at a time
  shared_files files_;
};

} // namespace headrace::state
