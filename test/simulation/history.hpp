#pragma once

#include "libactors/base/log.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::simulation {

/// How one history is run, beside its seed.
struct history_options {
  /// Of the faults that the seed draws only the first so many happen; -1: all. A history that fails
  /// with fewer is easier to read.
  int faults_max = -1;
  logger log;
};

/// How it went.
struct history {
  std::string failure; ///< empty: nothing that must not be was seen
  std::string shape;   ///< of cluster and job, in words
  std::vector<std::string> faults;
  std::int64_t virtual_ms = 0;
  std::uint64_t steps = 0;
  std::uint64_t trace = 0; ///< the same for the same seed and options
  int restored = 0;        ///< restarts that began with a completed checkpoint
};

/// Draws a cluster, a job, its input and what befalls them, runs the job to its end, and looks
/// whether its output is what the input says, and whether nothing is left of it.
history run_history(std::uint64_t seed, const history_options& options);

} // namespace headrace::simulation
