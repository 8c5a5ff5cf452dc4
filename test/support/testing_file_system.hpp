#pragma once

#include "libactors/base/file_system.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace headrace::testing {

/// A file system in memory that fails on command and forgets what was not synced in a crash. Any
/// thread.
class testing_file_system final : public file_system {
public:
  /// Is asked before each call, with what it does ("open", "append", "rename", …) and the path; an
  /// error is returned instead of doing it.
  using interceptor =
      std::function<std::optional<error>(const std::string& call, const std::string& path)>;
  void intercept(interceptor asked);
  /// All files together hold at most so much; then appends are cut and fail with storage_full.
  void set_capacity(std::uint64_t bytes);
  /// What a power failure leaves: appended bytes that were not synced are gone, open files too.
  void crash();

  void put(const std::string& path, byte_string content);
  /// The content; fails the process when there is no such file.
  const byte_string& at(const std::string& path) const;
  /// Paths of all files, sorted.
  std::vector<std::string> paths() const;
  std::uint64_t calls() const { return calls_; }

  result<std::unique_ptr<readable_file>> open(const std::string& path) override;
  result<std::unique_ptr<writable_file>> create(const std::string& path) override;
  result<std::unique_ptr<writable_file>> resume(const std::string& path,
                                                std::uint64_t size_bytes) override;
  status rename(const std::string& from, const std::string& to) override;
  status link(const std::string& from, const std::string& to) override;
  status remove(const std::string& path) override;
  status remove_tree(const std::string& path) override;
  status create_directories(const std::string& path) override;
  result<file_info> stat(const std::string& path) override;
  result<std::vector<file_info>> list(const std::string& directory) override;

private:
  struct content {
    byte_string bytes;
    std::size_t synced = 0;
  };
  class reader;
  class writer;
  status ask(const char* call, const std::string& path);
  bool is_directory(const std::string& path) const;

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<content>> files_;
  std::set<std::string> directories_;
  interceptor asked_;
  std::optional<std::uint64_t> capacity_;
  std::uint64_t epoch_ = 0; ///< crashes so far
  std::uint64_t calls_ = 0;
};

} // namespace headrace::testing
