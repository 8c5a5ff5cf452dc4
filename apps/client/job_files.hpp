#pragma once

#include "libscheduler/client/job_client.hpp"
#include "libgraph/job_graph/job_graph.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/result.hpp"

#include <string>
#include <vector>

namespace headrace::client {

/// A file that a job's code lies in.
struct job_file {
  std::string path;
  std::string digest{}; ///< SHA-256 that it must have; empty: any
};

/// Uploads the files, and makes them the job's artifacts, in their order: the job object is first.
/// @errors those of the cluster and of reading; job_object_incompatible  a file has changed since
status upload_files(scheduler::job_client& client, file_system& files,
                    const std::vector<job_file>& wanted, graph::job_graph& job);

} // namespace headrace::client
