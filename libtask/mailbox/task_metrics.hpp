#pragma once

#include "libtask/mailbox/state_figures.hpp"
#include "libtask/mailbox/task_times.hpp"
#include "libgraph/function/user_metrics.hpp"
#include "libactors/base/metric.hpp"

namespace headrace::task {

/// What one subtask counts. Written by the subtask only, read by anyone.
struct task_metrics {
  counter records_in;
  counter records_out;
  counter bytes_in;
  counter bytes_out;
  counter skipped_records;      ///< malformed ones left out by option
  counter late_records;         ///< dropped by windows
  counter restored_bytes;       ///< that were read to restore this attempt
  counter restored_local_bytes; ///< of them, from local copies
  gauge watermark_ms;
  task_times times;
  state_figures state;
  graph::user_metrics user;
};

} // namespace headrace::task
