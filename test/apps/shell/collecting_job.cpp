// Gives its client some numbers.

#include "libgraph/api/headrace.hpp"

#include <cstdint>

HEADRACE_JOB(env) {
  env.set_parallelism(1);
  env.from_collection<std::int64_t>({0, 1, 2, 3}).collect();
}
