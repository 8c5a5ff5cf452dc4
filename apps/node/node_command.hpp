#pragma once

#include "libactors/base/option.hpp"

#include <cstdint>
#include <string>

namespace headrace::node {

enum class node_role : std::uint8_t { job_manager, task_manager, standalone };

/// What `headrace node` was told.
struct node_command_options {
  node_role role = node_role::standalone;
  configuration settings;
  std::string pid_file;   ///< written at once; empty: none
  std::string ready_file; ///< written when the process can be used: its ports; empty: none
};

/// What the process ends with; as of `headrace run`.
enum node_exit_code : int { stopped = 0, failed = 1, bad_usage = 2 };

/// Runs a process of a cluster until SIGTERM or SIGINT, or a fatal error. Says on standard output
/// when it is ready: everything listens, and its task executor is registered. Told to stop, a job
/// manager suspends its jobs with a last checkpoint, and a task manager takes leave, all within
/// cluster.services.shutdown-timeout.
int run_node(const node_command_options& options);

} // namespace headrace::node
