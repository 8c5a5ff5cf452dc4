#include "test/support/seed.hpp"

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <iostream>

int main(int argc, char** argv) {
  doctest::Context context{argc, argv};
  if (!context.shouldExit()) {
    std::cout << "HEADRACE_SEED=" << headrace::testing::seed() << '\n';
  }
  return context.run();
}
