#include "libactors/base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace headrace {

void assertion_failed(const char* condition, const char* reason, const char* file, int line) {
  std::fprintf(stderr, "assertion failed: %s: %s, at %s:%d\n", reason, condition, file, line);
  std::fflush(stderr);
  std::abort();
}

} // namespace headrace
