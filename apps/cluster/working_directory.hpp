#pragma once

#include "libactors/base/executor.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/log.hpp"
#include "libactors/base/option.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headrace::cluster {

/// A directory of this process's own below a base, `<name>-<pid>`, gone with it. Who uses one holds
/// a lock on the file `lock` in it: pids are given again, and say nothing across containers.
class working_directory {
public:
  /// Takes a number behind the pid when another process has the directory.
  working_directory(file_system& files, const std::string& base, const std::string& name);
  ~working_directory();
  working_directory(const working_directory&) = delete;
  working_directory& operator=(const working_directory&) = delete;
  const std::string& path() const { return path_; }

  /// Removes, in steps of `blocking`, what processes that were killed left beside it under the same
  /// name, and logs what that was. `files` and `log` outlive the steps.
  void remove_abandoned(executor& blocking, const logger& log) const;

private:
  file_system& files_;
  std::string start_; ///< of the names: <base>/<name>-
  std::string path_;
  int lock_ = -1;
};

/// What was removed of a process that is no more.
struct abandoned_directory {
  std::string path;
  std::uint64_t size_bytes = 0;
  status removed;
};

/// Removes the directories with such a beginning of the path in which there is a file `lock` that
/// nobody holds; others stay, those without such a file, too. May block.
std::vector<abandoned_directory> remove_abandoned_directories(file_system& files,
                                                              const std::string& start);

/// Where task managers keep local copies of state: taskmanager.state.local.root-dirs, or else where
/// RocksDB's files are, so that they can be linked.
std::string local_state_base(const configuration& settings);

/// The directory below state.backend.rocksdb.localdir; null: that is not set.
std::unique_ptr<working_directory> make_state_directory(file_system& files,
                                                        const configuration& settings);

} // namespace headrace::cluster
