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

int runs(int usual) {
  const char* wanted = std::getenv("HEADRACE_RUNS");
  return wanted != nullptr ? std::atoi(wanted) : usual;
}

bool wants_log() { return std::getenv("HEADRACE_TEST_LOG") != nullptr; }

bool accepts() { return std::getenv("HEADRACE_ACCEPT") != nullptr; }

} // namespace headrace::testing
