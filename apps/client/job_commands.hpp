#pragma once

#include "libscheduler/client/job_client.hpp"
#include "libactors/base/option.hpp"

#include <cstdint>
#include <string>

namespace headrace::client {

/// Which question or order `headrace jobs`, `info`, `cancel`, `stop`, `savepoint`, `actors` stands
/// for.
enum class command : std::uint8_t {
  list_jobs,
  show_job,
  cancel_job,
  stop_job,
  take_savepoint,
  list_actors
};

struct command_options {
  command what = command::list_jobs;
  std::string target;                  ///< HOST:PORT of the REST interface
  std::string job;                     ///< its id, or the first digits of it
  scheduler::savepoint_wish savepoint; ///< of `stop` and `savepoint`
  bool is_json = false;
  configuration settings;
};

/// What the process ends with; as of `headrace run`.
enum command_exit_code : int { done = 0, failed = 1, bad_usage = 2 };

/// Asks a cluster, and prints what it says: a table, or JSON.
int run_command(const command_options& options);

} // namespace headrace::client
