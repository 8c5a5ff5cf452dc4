#pragma once

#include "apps/cluster/mini_cluster.hpp"
#include "libscheduler/client/job_client.hpp"
#include "libgraph/api/environment.hpp"
#include "libgraph/api/job_object.hpp"
#include "libactors/rpc/node.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace headrace::bench {

/// A cluster on threads of this process, for jobs that the program itself describes. Ends the
/// process with the reason when something fails. One job after the other; all of one code.
class local_cluster {
public:
  explicit local_cluster(std::int32_t slots);
  ~local_cluster();
  local_cluster(const local_cluster&) = delete;
  local_cluster& operator=(const local_cluster&) = delete;

  /// Builds and submits. The code of jobs that run at a time must be the same.
  job_id submit(api::environment& env, std::int32_t parallelism);
  /// Waits until a job has finished.
  void finish(const job_id& job);
  /// Waits until all tasks of a job run.
  void await_running(const job_id& job);
  void cancel(const job_id& job);
  /// How a completed checkpoint went.
  struct checkpoint_figures {
    std::int64_t duration_ms = 0;
    std::int64_t alignment_ms = 0; ///< the longest of a task
    std::uint64_t in_flight_bytes = 0;
    bool is_unaligned = false;
  };
  /// Waits for the first completed checkpoint of a job.
  checkpoint_figures await_checkpoint(const job_id& job);

private:
  class testing_loader;
  std::string directory_;
  std::unique_ptr<headrace::file_system> files_;
  std::unique_ptr<testing_loader> loader_;
  std::unique_ptr<actors::node> node_;
  std::unique_ptr<cluster::mini_cluster> cluster_;
  std::unique_ptr<scheduler::job_client> client_;
};

/// CPU time of this process so far.
double process_cpu_seconds();
/// Memory of this process now, and the most so far since `reset_peak`.
double resident_megabytes();
double peak_megabytes();
void reset_peak();

} // namespace headrace::bench
