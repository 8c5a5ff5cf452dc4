#include "apps/client/cluster_subcommands.hpp"

#include "apps/client/remote_cluster.hpp"
#include "apps/cluster/process_settings.hpp"
#include "libactors/base/path.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <string>
#include <utility>

namespace headrace::client {
namespace {

constexpr std::int64_t minutes_max = 1'000'000'000;
constexpr std::int64_t entries_max = 1'000'000'000; ///< printed

int complain(const error& failure) {
  std::fprintf(stderr, "headrace: %s\n", to_string(failure).c_str());
  return bad_usage;
}

/// The cluster's processes stand elsewhere.
status make_absolute(std::string& path) {
  HEADRACE_TRY(path, absolute_path(path));
  return {};
}

} // namespace

cluster_subcommands::cluster_subcommands(CLI::App& app) {
  options_.target = default_target;
  add(app, command::list_jobs, "jobs", "List the jobs of a cluster");
  add(app, command::show_job, "info", "Show how a job is doing");
  add(app, command::cancel_job, "cancel", "Cancel a job, and wait for its end");
  auto* stop =
      add(app, command::stop_job, "stop", "End a job with a savepoint, and print its path");
  stop->add_option("-p,--savepoint-path,--savepointPath", options_.savepoint.target_directory,
                   "Where the savepoint goes: a directory in this one (default: "
                   "execution.checkpointing.savepoint-dir)");
  stop->add_flag("-d,--drain", drains_,
                 "Let event time end first: all windows and timers fire, as at the end of input");
  add_type(*stop);
  auto* savepoint = add(app, command::take_savepoint, "savepoint",
                        "Take a savepoint of a job, which runs on, and print its path");
  savepoint->add_option("-p,--directory", options_.savepoint.target_directory,
                        "Where it goes: a directory in this one (default: "
                        "execution.checkpointing.savepoint-dir)");
  add_type(*savepoint);
  savepoint->get_option("job")->required(false); // there is `inspect`, too
  add_inspect(*savepoint);
  add_gc(app);
  add(app, command::list_actors, "actors", "Show the actors of a cluster as a tree");
}

void cluster_subcommands::add_type(CLI::App& to) {
  to.add_option("--type", type_,
                "canonical: every state backend reads it; native: in the form of the job's own")
      ->check(CLI::IsMember({"canonical", "native"}))
      ->capture_default_str();
}

void cluster_subcommands::add_inspect(CLI::App& to) {
  inspect_ = to.add_subcommand("inspect", "Show what is in a savepoint or checkpoint: operators, "
                                          "states, keys; or the entries of a state");
  inspect_->add_option("path", inspected_.path, "Its directory")->required();
  inspect_->add_option("--operator", inspected_.of_operator,
                       "Only this one: its uid, its name, or the first digits of its id");
  inspect_->add_option("--state", inspected_.state, "Print the entries of this state, one a line");
  inspect_->add_option("--limit", inspected_.rows_max, "How many of them")
      ->check(CLI::Range(std::int64_t{0}, entries_max))
      ->capture_default_str();
  inspect_->add_flag("--json", inspected_.is_json, "Print JSON");
}

void cluster_subcommands::add_gc(CLI::App& app) {
  auto* checkpoints = app.add_subcommand("checkpoints", "Look after directories of checkpoints");
  checkpoints->require_subcommand(1);
  gc_ = checkpoints->add_subcommand(
      "gc", "Remove what aborted checkpoints and ended processes left among checkpoints");
  gc_->add_option("directory", collected_.directory,
                  "Of checkpoints (execution.checkpointing.dir), or that of one job in it")
      ->required();
  gc_->add_option("--older-than", collected_.minutes_old,
                  "Leave what is newer than so many minutes: it may belong to a checkpoint that is "
                  "being made")
      ->check(CLI::Range(std::int64_t{0}, minutes_max))
      ->capture_default_str();
  gc_->add_flag("--dry-run", collected_.is_dry_run, "Only list it");
}

CLI::App* cluster_subcommands::add(CLI::App& app, command what, const char* name,
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
  return made;
}

std::optional<int> cluster_subcommands::run() {
  if (inspect_->parsed()) {
    const auto made = make_absolute(inspected_.path);
    return made ? run_inspect(inspected_) : complain(made.error());
  }
  if (gc_->parsed()) {
    const auto made = make_absolute(collected_.directory);
    return made ? run_gc(collected_) : complain(made.error());
  }
  for (const auto& [made, what] : commands_) {
    if (!made->parsed())
      continue;
    if (what == command::take_savepoint && options_.job.empty()) {
      std::fprintf(stderr, "headrace: savepoint wants a job, or inspect PATH\n");
      return bad_usage;
    }
    options_.what = what;
    auto& savepoint = options_.savepoint;
    savepoint.is_native = type_ == "native";
    if (what == command::stop_job)
      savepoint.stop = drains_ ? graph::savepoint_stop::drain : graph::savepoint_stop::suspend;
    if (const auto usable = make_absolute(savepoint.target_directory); !usable)
      return complain(usable.error());
    if (const auto read = cluster::read_settings(config_, defines_, options_.settings); !read)
      return complain(read.error());
    return run_command(options_);
  }
  return std::nullopt;
}

} // namespace headrace::client
