// A job object for the tests of the loader; its arguments say how it behaves.

#include "libgraph/api/headrace.hpp"

#include <stdexcept>

namespace api = headrace::api;

HEADRACE_JOB(env) {
  const auto mode = env.arguments().get("mode", "plain");
  static_cast<void>(env.arguments().get("x", ""));
  if (mode == "throw")
    throw std::runtime_error("thrown by the entry");
  if (mode == "throw-number")
    throw 42; // NOLINT: what the loader must survive
  if (mode == "missing")
    env.arguments().get("needed");
  if (mode == "empty")
    return;
  static int runs = 0;
  ++runs;
  auto numbers = env.from_collection<std::int64_t>({1, 2, 3});
  if (mode == "changing" && runs % 2 == 0)
    numbers = numbers.filter([](std::int64_t n) { return n > 1; }).name("the filter");
  numbers.map([](std::int64_t n) { return n * 2; }).print();
}
