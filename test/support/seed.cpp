#include "test/support/seed.hpp"

#include <cstdlib>
#include <random>
#include <string>

namespace headrace::testing {

std::uint64_t seed() {
  static const std::uint64_t value = [] {
    if (const char* text = std::getenv("HEADRACE_SEED")) {
      return static_cast<std::uint64_t>(std::stoull(text));
    }
    return static_cast<std::uint64_t>(std::random_device{}());
  }();
  return value;
}

} // namespace headrace::testing
