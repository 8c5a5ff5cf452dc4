#pragma once

#include <string>

namespace headrace::testing {

/// A directory on the machine's disk, for what cannot do with files in memory. Goes with this.
class scratch_directory {
public:
  scratch_directory();
  ~scratch_directory();
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;

  const std::string& path() const { return path_; }

private:
  std::string path_;
};

} // namespace headrace::testing
