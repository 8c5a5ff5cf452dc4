#pragma once

#include "libgraph/connector/registry.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace headrace::testing {

/// What testing sinks of one name wrote and committed. Any thread.
struct sink_log {
  mutable std::mutex lock;
  std::vector<std::int64_t> written;   ///< in order, all subtasks
  std::vector<std::int64_t> committed; ///< rows of committed committables
  std::vector<std::string> calls; ///< "create", "prepare", "prepare end", "snapshot 3", "commit"
  bool exactly_once = true;
  bool fail_writes = false;
  int postponed_commits = 0;       ///< so many committables are to be given again
  std::vector<job_id> former_jobs; ///< that the last writer was told of

  std::vector<std::int64_t> all_written() const;
  std::vector<std::int64_t> all_committed() const;
};

/// Adds a sink "testing" that records the first column (BIGINT) of what it is given. A committable
/// holds the numbers since the one before.
void add_testing_sink(graph::connector_registry& to, std::shared_ptr<sink_log> log);

/// Adds a bounded source "testing": the split "a" holds the numbers [0, option "count"), one fetch
/// gives at most option "batch" of them. Its enumerator gives splits named in option "splits"
/// (comma-separated, "a" when absent) on request.
void add_testing_source(graph::connector_registry& to);

} // namespace headrace::testing
