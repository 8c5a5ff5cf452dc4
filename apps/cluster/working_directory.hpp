#pragma once

#include "libactors/base/file_system.hpp"
#include "libactors/base/option.hpp"

#include <string>

namespace headrace::cluster {

/// A directory of this process's own below `io.tmp.dirs`, gone with it.
class working_directory {
public:
  working_directory(file_system& files, const configuration& settings);
  ~working_directory();
  working_directory(const working_directory&) = delete;
  working_directory& operator=(const working_directory&) = delete;
  const std::string& path() const { return path_; }

private:
  file_system& files_;
  std::string path_;
};

} // namespace headrace::cluster
