#pragma once

#include "libscheduler/execution_graph/execution_graph.hpp"
#include "libgraph/function/user_metrics.hpp"
#include "schema/job.capnp.h"
#include "schema/task.capnp.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace headrace::scheduler {

/// What a task does with its time: parts of 1, or all 0 when nothing is known.
struct time_shares {
  float busy = 0;
  float back_pressured = 0;
  float idle = 0;
  friend bool operator==(const time_shares&, const time_shares&) = default;
};

struct record_counts {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  std::uint64_t skipped = 0;
  std::uint64_t late = 0;
  record_counts& operator+=(const record_counts& other);
  friend bool operator==(const record_counts&, const record_counts&) = default;
};

/// What a task's newest report counts.
struct task_figures {
  execution_attempt_id attempt; ///< whose report it is
  record_counts records;
  record_counts earlier; ///< of the task's attempts before, which have ended
  std::uint64_t restored_bytes = 0;
  std::uint64_t restored_local_bytes = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::int64_t watermark_ms = 0;
  std::uint64_t busy_us = 0;
  std::uint64_t back_pressured_us = 0;
  std::uint64_t idle_us = 0;
  time_shares shares; ///< of the time between the two newest reports
  std::vector<std::pair<std::string, std::uint64_t>> state; ///< of what keeps it, by name
  std::vector<graph::user_figure> user;
};
/// @param before  of the report before; when it is of an older attempt, its counts are earlier ones
task_figures read_figures(schema::TaskMetrics::Reader in, const execution_attempt_id& attempt,
                          const task_figures& before);

/// The shares of a task that runs; of any other, nothing.
time_shares shares_of(const execution& current, const task_figures& figures);

/// What is known of a job besides its execution graph.
struct job_facts {
  std::int64_t started_ms = 0;
  std::int64_t ended_ms = 0;
  bool is_settling = false; ///< over, but a checkpoint that is being stored may yet be its newest
  std::uint32_t restarts = 0;
  std::uint32_t completed_checkpoints = 0;
  checkpoint_id newest_checkpoint = 0;
  std::string newest_checkpoint_path;
  checkpoint_id restored_checkpoint = 0;
  error failure;
  std::string waiting_for;
  std::vector<task_figures> figures; ///< by task
};

void write_status(schema::JobStatus::Builder out, const execution_graph& graph,
                  const job_facts& facts);
void write_result(schema::JobResult::Builder out, const execution_graph& graph,
                  const job_facts& facts);

} // namespace headrace::scheduler
