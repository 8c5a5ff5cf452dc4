#include "apps/node/node_subcommand.hpp"

#include "apps/cluster/process_settings.hpp"
#include "libactors/base/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdio>

namespace headrace::node {
namespace {

constexpr std::array<std::string_view, 3> roles{"jobmanager", "taskmanager", "standalone"};

std::string check_role(const std::string& given) {
  if (std::find(roles.begin(), roles.end(), given) != roles.end())
    return {};
  const auto nearest = nearest_name(given, roles);
  return "no role " + given + (nearest.empty() ? "" : ", did you mean " + std::string(nearest)) +
         "? A node is a jobmanager, a taskmanager, or standalone";
}

} // namespace

node_subcommand::node_subcommand(CLI::App& app)
    : command_(app.add_subcommand("node", "Run a process of a cluster until it is told to stop")) {
  command_->footer(
      "A cluster is one job manager and any number of task managers, e.g.\n"
      "  headrace node --role jobmanager -D high-availability.storageDir=/var/lib/headrace\n"
      "  headrace node --role taskmanager -D jobmanager.rpc.address=HOST\n"
      "Says on standard output when it is ready. SIGTERM stops it in order: a task manager takes\n"
      "leave, a job manager suspends its jobs with a last checkpoint, and the next one with the\n"
      "same storageDir runs them on.\n"
      "Exit code: 0 stopped, 1 failed, 2 bad usage.");
  command_->add_option("--role", role_, "What the process is; standalone: both in one")
      ->check(check_role)
      ->capture_default_str();
  command_->add_option("--config", config_, "A headrace.yaml with settings");
  command_->add_option("-D", defines_, "A setting: key=value (may come several times)")
      ->allow_extra_args(false);
  command_->add_option("--pid-file", options_.pid_file, "File that the process id is written to");
  command_->add_option("--ready-file", options_.ready_file,
                       "File that is written once the process can be used: role, pid and ports");
}

std::optional<int> node_subcommand::run() {
  if (!command_->parsed())
    return std::nullopt;
  options_.role = role_ == "jobmanager"    ? node_role::job_manager
                  : role_ == "taskmanager" ? node_role::task_manager
                                           : node_role::standalone;
  if (const auto read = cluster::read_settings(config_, defines_, options_.settings); !read) {
    std::fprintf(stderr, "headrace: %s\n", to_string(read.error()).c_str());
    return bad_usage;
  }
  return run_node(options_);
}

} // namespace headrace::node
