#pragma once

#include "libgraph/job_graph/job_graph.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/base/result.hpp"
#include "libactors/message/message.hpp"
#include "schema/job.capnp.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headrace::scheduler {

/// A job that has not ended, as a store gives it to a new dispatcher.
struct stored_job {
  graph::job_graph graph;
  std::int32_t generation = 0; ///< how often it was loaded, this time included
};

/// Keeps the graphs of jobs that have not ended, so that a later dispatcher runs them on, and how
/// the newest of those that have ended did end. May block: used on an executor, one call at a time.
class job_store {
public:
  virtual ~job_store() = default;
  /// Returns when the job is lasting.
  virtual status put(const graph::job_graph& job) = 0;
  /// Removing what is not there succeeds.
  virtual status remove(const job_id& job) = 0;
  /// All stored jobs, by id; those that cannot be read are left out and named in `refused`. Each
  /// load gives a job its next generation, which is lasting before this returns.
  virtual result<std::vector<stored_job>> load(std::vector<error>& refused) = 0;
  /// The next generation of one stored job, which is lasting before this returns.
  virtual result<std::int32_t> next_generation(const job_id& job) = 0;

  /// Keeps how a job has ended; forgets the oldest ends beyond some.
  virtual status put_ended(const job_id& job, const message<schema::JobEnded>& how) = 0;
  /// Oldest first; those that cannot be read are left out and named in `refused`.
  virtual result<std::vector<message<schema::JobEnded>>>
  load_ended(std::vector<error>& refused) = 0;
};

/// Forgets with the process.
std::unique_ptr<job_store> make_memory_job_store();
/// Two files a job, `<directory>/<job id>.job` and, once it was recovered, `<job id>.generation`,
/// with which its checkpoint record goes, which lies beside them (see checkpoint_records); one a
/// job that has ended, `<job id>.ended`. Written atomically. `files` lives longer.
std::unique_ptr<job_store> make_file_job_store(headrace::file_system& files, std::string directory);

} // namespace headrace::scheduler
