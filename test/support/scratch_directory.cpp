#include "test/support/scratch_directory.hpp"

#include "libactors/base/assert.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace headrace::testing {

scratch_directory::scratch_directory()
    : path_(std::filesystem::temp_directory_path().string() + "/headrace-test-XXXXXX") {
  HEADRACE_ASSERT(mkdtemp(path_.data()) != nullptr,
                  "the machine's temporary directory is writable");
}

scratch_directory::~scratch_directory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

} // namespace headrace::testing
