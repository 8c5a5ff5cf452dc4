#include "apps/run/option_list.hpp"

#include "test/support/seed.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

namespace headrace::run {
namespace {

TEST_SUITE_BEGIN("apps/run/option_list");

// HEADRACE_ACCEPT=1 writes the file.
TEST_CASE("docs/options.md lists the options as they are") {
  const std::string path = HEADRACE_SOURCE_ROOT "/docs/options.md";
  if (testing::accepts())
    std::ofstream(path) << list_options();

  std::ostringstream found;
  found << std::ifstream(path).rdbuf();

  CHECK(found.str() == list_options());
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::run
