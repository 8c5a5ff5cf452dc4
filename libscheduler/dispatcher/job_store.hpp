#pragma once

#include "libgraph/job_graph/job_graph.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/base/result.hpp"

#include <memory>
#include <string>
#include <vector>

namespace headrace::scheduler {

/// Keeps the graphs of jobs that have not ended, so that a later dispatcher runs them on. May
/// block: used on an executor, one call at a time.
class job_store {
public:
  virtual ~job_store() = default;
  /// Returns when the job is lasting.
  virtual status put(const graph::job_graph& job) = 0;
  /// Removing what is not there succeeds.
  virtual status remove(const job_id& job) = 0;
  /// All stored jobs, by id; those that cannot be read are left out and named in `refused`.
  virtual result<std::vector<graph::job_graph>> load(std::vector<error>& refused) = 0;
};

/// Forgets with the process.
std::unique_ptr<job_store> make_memory_job_store();
/// One file a job, `<directory>/<job id>.job`, written atomically. `files` lives longer.
std::unique_ptr<job_store> make_file_job_store(headrace::file_system& files, std::string directory);

} // namespace headrace::scheduler
