#include "apps/client/cluster_subcommands.hpp"

#include "apps/client/remote_cluster.hpp"
#include "apps/cluster/process_settings.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>

namespace headrace::client {

cluster_subcommands::cluster_subcommands(CLI::App& app) {
  options_.target = default_target;
  add(app, command::list_jobs, "jobs", "List the jobs of a cluster");
  add(app, command::show_job, "info", "Show how a job is doing");
  add(app, command::cancel_job, "cancel", "Cancel a job, and wait for its end");
  add(app, command::stop_job, "stop",
      "End a job with a last checkpoint, which is kept, and print its path");
  add(app, command::list_actors, "actors", "Show the actors of a cluster as a tree");
}

void cluster_subcommands::add(CLI::App& app, command what, const char* name,
                              const char* description) {
  auto* made = app.add_subcommand(name, description);
  if (what != command::list_jobs && what != command::list_actors)
    made->add_option("job", options_.job, "The job's id, or its first digits")->required();
  made->add_option("--target", options_.target, "HOST:PORT of the cluster's REST interface")
      ->capture_default_str();
  made->add_flag("--json", options_.is_json, "Print JSON");
  made->add_option("--config", config_, "A headrace.yaml with settings");
  made->add_option("-D", defines_, "A setting: key=value (may come several times)")
      ->allow_extra_args(false);
  commands_.emplace_back(made, what);
}

std::optional<int> cluster_subcommands::run() {
  for (const auto& [made, what] : commands_) {
    if (!made->parsed())
      continue;
    options_.what = what;
    if (const auto read = cluster::read_settings(config_, defines_, options_.settings); !read) {
      std::fprintf(stderr, "headrace: %s\n", to_string(read.error()).c_str());
      return bad_usage;
    }
    return run_command(options_);
  }
  return std::nullopt;
}

} // namespace headrace::client
