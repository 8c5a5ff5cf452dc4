#pragma once

#include "apps/client/collected_rows.hpp"
#include "apps/client/job_files.hpp"
#include "apps/run/job_access.hpp"
#include "apps/run/run_command.hpp"
#include "libgraph/api/job_object.hpp"
#include "libgraph/job_graph/job_graph.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headrace::run {

/// Runs jobs one after the other on one cluster: in this process, or the one that is named. Shows
/// progress on standard error. SIGINT and SIGTERM cancel the job that runs; a second one, or the
/// end of cluster.services.shutdown-timeout, ends this process. Ends what it started when it goes.
class job_runner {
public:
  virtual ~job_runner() = default;

  /// @param slots  that the largest job needs
  /// @errors those of the cluster's start, or of reaching it
  static result<std::unique_ptr<job_runner>> start(file_system& files, api::object_loader& loader,
                                                   const run_options& options, std::int32_t slots);

  /// Submits the job, gives it an id, and follows it to its end unless that is not wanted.
  /// @param code  what the job's code lies in, the job object first
  /// @param take  gets the rows that the job collects
  /// @param tells_progress  unless the options say that nothing is told
  /// @returns an exit code. @errors what the job failed with
  result<int> run(graph::job_graph& job, const std::vector<client::job_file>& code,
                  client::collected_rows::taker take, bool tells_progress = true);
  /// Whether a signal asked for the end.
  static bool is_interrupted();

protected:
  job_runner(file_system& files, const run_options& options) : files_(files), options_(options) {}
  virtual job_access& access() = 0;

private:
  file_system& files_;
  const run_options& options_;
};

/// The parallelism of operators that set none.
std::int32_t default_parallelism(const run_options& options, const configuration& settings);
/// The options, with the settings that the cluster of `--target` has for its jobs behind the own
/// ones. @errors those of client::parse_target and client::with_settings_of
result<run_options> with_cluster_settings(run_options options);
/// Applies settings, and where the job starts from, to what its program left open.
/// @errors those of cluster::apply_settings
status apply_options(const run_options& options, const configuration& settings, bool is_bounded,
                     graph::job_graph& job);
/// Tells what went wrong. @returns the exit code
int complain(const error& failure);

} // namespace headrace::run
