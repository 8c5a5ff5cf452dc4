#pragma once

#include "libactors/base/file_system.hpp"
#include "libactors/base/option.hpp"

#include <memory>
#include <string>

namespace headrace::cluster {

/// A directory of this process's own below a base, `<name>-<pid>`, gone with it; what processes
/// that were killed left under such names is removed first.
class working_directory {
public:
  working_directory(file_system& files, const std::string& base, const std::string& name);
  ~working_directory();
  working_directory(const working_directory&) = delete;
  working_directory& operator=(const working_directory&) = delete;
  const std::string& path() const { return path_; }

private:
  file_system& files_;
  std::string path_;
};

/// Where task managers keep local copies of state: taskmanager.state.local.root-dirs, or else where
/// RocksDB's files are, so that they can be linked.
std::string local_state_base(const configuration& settings);

/// The directory below state.backend.rocksdb.localdir; null: that is not set.
std::unique_ptr<working_directory> make_state_directory(file_system& files,
                                                        const configuration& settings);

} // namespace headrace::cluster
