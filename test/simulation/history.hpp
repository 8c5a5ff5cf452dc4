#pragma once

#include "test/support/testing_file_system.hpp"
#include "libgraph/api/environment.hpp"
#include "libactors/base/log.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace headrace::simulation {

/// What a history runs.
struct workload {
  std::string name;
  std::map<std::string, std::string> files; ///< of the store, by path
  /// Adds the job to an environment, whose checkpoints and state are set.
  std::function<void(api::environment&)> describe;
  /// In words, what is wrong with the output; empty: nothing.
  std::function<std::string(testing::testing_file_system&, bool at_least_once)> check;
  bool may_repeat = true; ///< at-least-once runs can be checked, too
};
/// The windowed job of the fault tests, or one that deals splits out; drawn from the seed.
workload draw_workload(std::uint64_t seed);

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
  int job_managers = 0;    ///< that were started
  bool is_moved = false;   ///< was stopped with a savepoint, and ran on at another parallelism
};

/// Draws a cluster, how a job runs and what befalls them, runs it to its end, and looks whether its
/// output is what it should be, and whether nothing is left of it.
history run_history(std::uint64_t seed, const workload& what, const history_options& options);

/// The lines of all committed files of a job's output.
std::multiset<std::string> committed_rows(testing::testing_file_system& files);

} // namespace headrace::simulation
