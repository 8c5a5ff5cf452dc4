#pragma once

#include "libactors/base/file_system.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headrace::state {

/// What a restore has read, and where.
struct restore_tally {
  std::uint64_t bytes = 0;
  std::uint64_t local_bytes = 0; ///< of them, from local copies
  struct refusal {
    std::string path; ///< of the stored file
    error why;
  };
  std::vector<refusal> refusals; ///< local copies that were missing or wrong: the first some
  std::uint64_t refused = 0;     ///< all of them
};

/// Files as a subtask restores from them: what of a file below the checkpoints' directory has a
/// local copy that has not been refused is read from that, the rest as it is stored. Whoever reads
/// verifies what it reads, refuses what is wrong, and reads again. Any thread.
class local_first_files final : public file_system {
public:
  /// `files` lives longer. Where `local` is empty, there are no copies.
  /// @param stored  the directory whose files have copies, under the same names, below `local`
  local_first_files(file_system& files, std::string stored, std::string local);

  /// The name of a copy of what lies in a file from `offset` on.
  static std::string name_of_piece(const std::string& file, std::uint64_t offset);

  /// Where the local copy of a whole stored file is, if there is any; nothing once it was refused.
  std::optional<std::string> local_path(const std::string& path) const;
  /// From now on the stored file is read.
  void refuse(const std::string& path, const error& why);
  /// The same of all files that were opened as their copies; what was read of copies does not
  /// count. @returns whether there was any
  bool refuse_opened(const error& why);
  /// Counts what was taken over from a local copy without reading it by this.
  void count_local(std::uint64_t bytes);
  restore_tally tally() const;

  result<std::unique_ptr<readable_file>> open(const std::string& path) override;
  result<std::unique_ptr<writable_file>> create(const std::string& path) override {
    return files_->create(path);
  }
  result<std::unique_ptr<writable_file>> resume(const std::string& path,
                                                std::uint64_t size_bytes) override {
    return files_->resume(path, size_bytes);
  }
  status rename(const std::string& from, const std::string& to) override {
    return files_->rename(from, to);
  }
  status link(const std::string& from, const std::string& to) override {
    return files_->link(from, to);
  }
  status remove(const std::string& path) override { return files_->remove(path); }
  status remove_tree(const std::string& path) override { return files_->remove_tree(path); }
  status create_directories(const std::string& path) override {
    return files_->create_directories(path);
  }
  result<file_info> stat(const std::string& path) override { return files_->stat(path); }
  result<std::vector<file_info>> list(const std::string& directory) override {
    return files_->list(directory);
  }

private:
  static constexpr std::size_t refusals_max = 8; ///< that are told one by one
  struct piece {
    std::unique_ptr<readable_file> file;
    std::uint64_t offset = 0; ///< in the stored file
  };
  class mixed_file;
  void note(const std::string& path, const error& why);
  result<piece> open_piece(const std::string& local);

  file_system* files_;
  std::string stored_;
  std::string local_;
  std::shared_ptr<std::atomic<std::uint64_t>> local_bytes_;
  std::shared_ptr<std::atomic<std::uint64_t>> stored_bytes_;
  mutable std::mutex mutex_;
  std::set<std::string> opened_;  ///< as their copies
  std::set<std::string> refused_; ///< both by the path of the stored file
  std::vector<restore_tally::refusal> refusals_;
};

} // namespace headrace::state
