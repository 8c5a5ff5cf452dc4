#pragma once

#include "libactors/base/file_system.hpp"
#include "libactors/base/result.hpp"

#include <string>
#include <vector>

namespace headrace::node {

/// A directory that one process at a time may use: held from construction on.
class directory_lock {
public:
  /// @param taken  what to say, before the directory's name, when another process holds it
  /// @errors bad_usage  another process holds it
  static result<directory_lock> take(const std::string& directory, const std::string& taken);
  directory_lock(directory_lock&& other) noexcept;
  directory_lock& operator=(directory_lock&&) = delete;
  ~directory_lock();

private:
  explicit directory_lock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

/// Files that tell others of this process (its pid, its ports); removed when this goes.
class told_files {
public:
  explicit told_files(file_system& files) : files_(files) {}
  ~told_files();
  told_files(const told_files&) = delete;
  told_files& operator=(const told_files&) = delete;
  /// Does nothing for an empty path. @errors storage_failed
  status write(const std::string& path, const std::string& content);

private:
  file_system& files_;
  std::vector<std::string> paths_;
};

} // namespace headrace::node
