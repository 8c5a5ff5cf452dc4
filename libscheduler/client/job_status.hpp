#pragma once

#include "libscheduler/execution_graph/life_cycle.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/base/result.hpp"
#include "libactors/message/message.hpp"
#include "schema/job.capnp.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::scheduler {

struct vertex_status {
  vertex_id id;
  std::string name;
  std::int32_t parallelism = 0;
  bool is_source = false;                    ///< has no input
  std::vector<std::uint32_t> tasks_by_state; ///< index: task_state
  std::uint64_t records_in = 0;              ///< of a source: that it has read
  std::uint64_t records_out = 0;
  std::uint64_t skipped_records = 0;
  std::uint64_t late_records = 0;
  std::uint64_t restored_bytes = 0;       ///< by the running attempts
  std::uint64_t restored_local_bytes = 0; ///< of them, from local copies
  float busy_share = 0; ///< of the time lately, of the subtask with the largest share
  float back_pressured_share = 0;
  float idle_share = 0;
};

/// What user code has gathered, over all subtasks.
struct accumulator_value {
  std::string name;
  std::string type; ///< Flink's class: "LongCounter"
  std::string value;
};

/// How a job is doing, as its client sees it. A value.
struct job_status {
  job_id id;
  std::string name;
  job_state state = job_state::created;
  std::int64_t started_ms = 0;
  std::int64_t ended_ms = 0; ///< 0: not yet
  std::uint32_t restarts = 0;
  std::uint32_t completed_checkpoints = 0;
  checkpoint_id last_checkpoint = 0; ///< 0: none yet
  /// Of an ended job: a checkpoint that was kept, or the savepoint that it was stopped with.
  std::string last_checkpoint_path;
  checkpoint_id restored_checkpoint = 0; ///< that the running attempt began with; 0: none
  std::vector<vertex_status> vertices;
  std::vector<accumulator_value> accumulators; ///< by name
  error failure;                               ///< the newest; code none: no failure yet
  std::string waiting_for;                     ///< empty: nothing
};

/// What all sources have read.
std::uint64_t records_read(const job_status& job);

/// Reads the statuses of a list. @errors malformed_message
/// In the order in which they were started.
result<std::vector<job_status>> read_job_list(const message<schema::JobList>& from);
/// Reads a status off the wire. @errors malformed_message
result<job_status> read_job_status(const message<schema::JobStatus>& from);

} // namespace headrace::scheduler
