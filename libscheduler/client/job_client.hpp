#pragma once

#include "libscheduler/client/job_status.hpp"
#include "libscheduler/execution_graph/life_cycle.hpp"
#include "libgraph/data/savepoint_order.hpp"
#include "libgraph/job_graph/job_graph.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/base/result.hpp"
#include "libactors/rpc/node.hpp"
#include "schema/job.capnp.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headrace::scheduler {

/// How a job ended.
struct job_outcome {
  job_id job;
  job_state state = job_state::finished;
  std::int64_t runtime_ms = 0;
  error failure; ///< code none unless failed
  std::uint32_t restarts = 0;
  std::uint32_t completed_checkpoints = 0;
};

/// Which savepoint is wanted.
struct savepoint_wish {
  std::string target_directory; ///< it is a directory in this one; empty: as the job is configured
  bool is_native = false;       ///< in the form of the state backend, else canonical
  graph::savepoint_stop stop = graph::savepoint_stop::none;
};
struct taken_savepoint {
  checkpoint_id checkpoint = 0;
  std::string path; ///< its directory
};

/// Rows that a collecting sink made visible, encoded as by batch_codec.
struct collected_batches {
  std::uint64_t next_offset = 0;
  std::vector<byte_string> batches;
  bool is_last = false;
};

/// The order for it.
message<schema::TakeSavepoint> describe(const job_id& job, const savepoint_wish& wish);
taken_savepoint read_savepoint(const message<schema::SavepointReply>& reply);

/// Talks to a cluster's dispatcher and blob server for a command line: each call blocks. Not for
/// actors. Any one thread at a time. `through` lives longer.
class job_client {
public:
  job_client(actors::node& through, actors::address dispatcher, actors::address blob_server,
             std::chrono::milliseconds ask_timeout = std::chrono::milliseconds(10'000));

  /// Uploads a file; does nothing when the blob server has it.
  /// @errors file_not_found, storage_failed, and those of the network
  result<graph::artifact> upload(headrace::file_system& files, const std::string& path,
                                 const std::string& name);
  /// @errors those of graph::validate; duplicate_job
  result<job_id> submit(const graph::job_graph& job);
  /// @errors job_not_found
  result<job_status> status(const job_id& job);
  /// All that is known of a job, its checkpoints included. @errors job_not_found
  result<message<schema::JobDetails>> details(const job_id& job);
  result<message<schema::JobList>> list();
  /// Waits until the job has ended, or `longest` has passed (`timed_out`); zero: however long.
  result<job_outcome> wait(const job_id& job,
                           std::chrono::milliseconds longest = std::chrono::milliseconds(0));
  /// Returns once the job is being canceled; `wait` tells when it is.
  headrace::status cancel(const job_id& job);
  /// Takes a savepoint; waits until it is lasting and, when it ends the job, the job has finished.
  /// @errors checkpoint_declined and what the savepoint failed with: the job goes on
  result<taken_savepoint> savepoint(const job_id& job, const savepoint_wish& wish,
                                    std::chrono::milliseconds longest = std::chrono::hours(24));
  /// Returns at once; how it goes is asked for by the trigger's id, which nobody may have used yet.
  headrace::status trigger_savepoint(const job_id& job, const savepoint_trigger_id& trigger,
                                     const savepoint_wish& wish);
  /// Nothing while it is under way. @errors state_not_found, and what it failed with
  result<std::optional<taken_savepoint>> savepoint_status(const job_id& job,
                                                          const savepoint_trigger_id& trigger);
  /// Batches from `offset` on; what lies before it is forgotten. Empty when none are there yet.
  result<collected_batches> fetch(const job_id& job, const operator_id& sink, std::uint64_t offset);

private:
  headrace::status put(const std::string& digest, readable_file& file);

  actors::node& through_;
  actors::address dispatcher_;
  actors::address blob_server_;
  std::chrono::milliseconds ask_timeout_;
};

} // namespace headrace::scheduler
