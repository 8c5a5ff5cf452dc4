#pragma once

#include "libactors/base/option.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::run {

/// What `headrace run` was told.
struct run_options {
  std::string job;                    ///< path of a job object, or of a script of SQL
  std::vector<std::string> arguments; ///< behind `--`: the job's own
  configuration settings;             ///< file and -D, in that order
  std::int32_t parallelism = 0;       ///< 0: parallelism.default, else the number of cores
  std::int32_t task_managers = 1;
  std::string restore_from; ///< directory of a savepoint or checkpoint; empty: none
  bool allow_non_restored_state = false;
  std::string target;       ///< REST port of a cluster; empty: a cluster in this process
  bool is_detached = false; ///< submits, and does not wait
  bool is_json = false;     ///< prints the job's id or how it ended as JSON
  bool quiet = false;       ///< no progress, no summary
  /// Of the rows of SQL queries: table, csv, json or changelog.
  std::string format = "table";
  std::string output;    ///< a file that gets what would be shown; empty: standard output
  bool explains = false; ///< shows the plans of a script of SQL, and runs nothing
};

/// What the process ends with.
enum exit_code : int { finished = 0, failed = 1, bad_usage = 2, canceled = 3 };

/// Runs a job in this process, in a cluster of its own, or on the cluster that is named: loads it,
/// submits it, shows progress on standard error, prints collected rows on standard output, waits
/// for its end. SIGINT and SIGTERM cancel it; a second one, or the end of
/// cluster.services.shutdown-timeout, ends this process.
int run_job(const run_options& options);

} // namespace headrace::run
