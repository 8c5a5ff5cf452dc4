#include "apps/client/job_files.hpp"

#include <utility>

namespace headrace::client {

status upload_files(scheduler::job_client& client, file_system& files,
                    const std::vector<job_file>& wanted, graph::job_graph& job) {
  job.artifacts.clear();
  for (const auto& each : wanted) {
    HEADRACE_TRY(auto uploaded, client.upload(files, each.path, each.path));
    if (!each.digest.empty() && uploaded.digest != each.digest)
      return error(errc::job_object_incompatible,
                   "library has changed since its functions were made, make them again: " +
                       each.path);
    job.artifacts.push_back(std::move(uploaded));
  }
  return {};
}

} // namespace headrace::client
