#include "apps/run/run_command.hpp"

#include "apps/client/collected_rows.hpp"
#include "apps/client/job_text.hpp"
#include "apps/client/remote_cluster.hpp"
#include "apps/cluster/job_settings.hpp"
#include "apps/cluster/memory_settings.hpp"
#include "apps/cluster/mini_cluster.hpp"
#include "apps/cluster/process_settings.hpp"
#include "apps/cluster/working_directory.hpp"
#include "apps/run/job_access.hpp"
#include "apps/run/progress.hpp"
#include "apps/run/remote_access.hpp"
#include "libscheduler/client/job_client.hpp"
#include "libgraph/api/job_object.hpp"
#include "libactors/base/random.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <thread>
#include <unistd.h>

namespace headrace::run {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds poll_interval{100};

std::atomic<int> signals_taken{0};
std::atomic<unsigned> stop_seconds{0}; ///< that a canceled run may take to end

/// The first one cancels the job; what then stands still does not keep the process.
extern "C" void take_signal(int number) {
  if (signals_taken.fetch_add(1) > 0)
    _exit(128 + number);
  ::alarm(stop_seconds.load());
}

extern "C" void end_late_run(int /*number*/) {
  static constexpr char words[] =
      "\nheadrace: the run did not end within cluster.services.shutdown-timeout after the signal, "
      "and is ended\n";
  static_cast<void>(!::write(STDERR_FILENO, &words[0], sizeof(words) - 1));
  _exit(failed);
}

void take_signals(const configuration& settings) {
  const auto limit = settings.get_duration("cluster.services.shutdown-timeout");
  stop_seconds.store(static_cast<unsigned>((limit.count() + 999) / 1000)); // at least one
  std::signal(SIGALRM, end_late_run);
  std::signal(SIGINT, take_signal);
  std::signal(SIGTERM, take_signal);
  std::signal(SIGPIPE, SIG_IGN); // who reads no more (head) fails the write, and so the job
}

int complain(const error& failure) {
  std::fprintf(stderr, "headrace: %s\n", to_string(failure).c_str());
  switch (failure.code) {
  case errc::bad_usage:
  case errc::unknown_option:
  case errc::bad_option_value:
  case errc::bad_configuration_file:
    return bad_usage;
  default:
    return failed;
  }
}

log_level level_of(const configuration& settings) {
  if (!settings.is_set("log.level") && !settings.is_set("log.file"))
    return log_level::off; // progress and the end say it, once
  return cluster::log_level_of(settings);
}

std::int32_t default_parallelism(const run_options& options) {
  if (options.parallelism > 0)
    return options.parallelism;
  if (options.settings.is_set("parallelism.default"))
    return static_cast<std::int32_t>(options.settings.get_int("parallelism.default"));
  if (!options.target.empty())
    return 1; // who knows what the cluster's machines have
  const auto cores = std::thread::hardware_concurrency();
  return cores == 0 ? 1 : static_cast<std::int32_t>(cores);
}

/// Slots of each task manager: as the settings say, else what the job needs.
std::int32_t slots_of_each(const run_options& options, const graph::job_graph& job) {
  if (options.settings.is_set("taskmanager.numberOfTaskSlots"))
    return static_cast<std::int32_t>(options.settings.get_int("taskmanager.numberOfTaskSlots"));
  const auto needed = cluster::slots_needed(job);
  return std::max<std::int32_t>(1, (needed + options.task_managers - 1) / options.task_managers);
}

/// Waits for the job's end, telling of it meanwhile.
class follower {
public:
  follower(job_access& access, const graph::job_graph& job, const run_options& options)
      : access_(access), job_(job.id), rows_(job, client::print_to_standard_output),
        shown_(options.quiet                ? progress::style::none
               : isatty(STDERR_FILENO) != 0 ? progress::style::live
                                            : progress::style::lines) {}

  result<scheduler::job_status> follow() {
    while (true) {
      auto ended = look();
      if (!ended) {
        HEADRACE_CHECK(access_.recover(ended.error()));
        is_canceling_ = false; // it may not have been heard
      } else if (*ended) {
        shown_.end(**ended);
        return std::move(**ended);
      }
    }
  }

private:
  /// Prints what is new, then waits a little. @returns how the job ended, once it has
  result<std::optional<scheduler::job_status>> look() {
    auto& client = access_.client();
    HEADRACE_TRY(auto status, client.status(job_));
    HEADRACE_CHECK(end_unless(rows_.print_new(client)));
    if (scheduler::is_terminal(status.state)) {
      HEADRACE_CHECK(rows_.print_rest(client));
      return std::optional(std::move(status));
    }
    shown_.show(status);
    if (signals_taken.load() > 0 && !is_canceling_) {
      HEADRACE_CHECK(client.cancel(job_));
      is_canceling_ = true;
    }
    if (const auto ended = client.wait(job_, poll_interval);
        !ended && ended.error().code != errc::timed_out)
      return ended.error();
    return std::optional<scheduler::job_status>();
  }

  /// A job whose rows nobody can read any more is of no use, on a cluster neither.
  status end_unless(status printed) {
    if (!printed && printed.error().code == errc::output_unusable)
      static_cast<void>(access_.client().cancel(job_));
    return printed;
  }

  job_access& access_;
  job_id job_;
  client::collected_rows rows_;
  progress shown_;
  bool is_canceling_ = false;
};

/// Uploads and submits the job; again, when the cluster was away meanwhile.
status submit(job_access& access, file_system& files, graph::job_graph& job,
              const run_options& options) {
  for (bool is_first = true;; is_first = false) {
    const auto submitted = [&]() -> status {
      HEADRACE_TRY(auto artifact, access.client().upload(files, options.job, options.job));
      job.artifacts.assign(1, std::move(artifact));
      HEADRACE_CHECK(access.client().submit(job));
      return {};
    }();
    if (submitted || (!is_first && submitted.error().code == errc::duplicate_job))
      return {}; // the first one had arrived
    HEADRACE_CHECK(access.recover(submitted.error()));
  }
}

/// Of a job that keeps checkpoints and has not finished.
void tell_how_to_go_on(const scheduler::job_status& ended) {
  if (ended.last_checkpoint_path.empty())
    std::fprintf(stderr, "%s: no checkpoint was complete, so that it can only begin anew\n",
                 ended.name.c_str());
  else
    std::fprintf(stderr, "%s: goes on from its last checkpoint with --from-savepoint %s\n",
                 ended.name.c_str(), ended.last_checkpoint_path.c_str());
}

/// Submits the job, and follows it unless that is not wanted.
result<int> run_on(job_access& access, file_system& files, graph::job_graph& job,
                   const run_options& options) {
  HEADRACE_CHECK(submit(access, files, job, options));
  if (options.is_detached) {
    std::printf(options.is_json ? "{\"id\":\"%s\"}\n" : "%s\n", to_string(job.id).c_str());
    return static_cast<int>(finished);
  }
  HEADRACE_TRY(const auto ended, follower(access, job, options).follow());
  if (options.is_json)
    std::fputs(client::job_as_json(ended).c_str(), stdout);
  if (ended.state != scheduler::job_state::finished && !options.quiet &&
      !job.checkpoints.directory.empty())
    tell_how_to_go_on(ended);
  switch (ended.state) {
  case scheduler::job_state::finished:
    return static_cast<int>(finished);
  case scheduler::job_state::canceled:
    return static_cast<int>(canceled);
  default:
    return ended.failure;
  }
}

result<int> run_in_this_process(api::object_loader& loader, file_system& files,
                                graph::job_graph& job, const run_options& options) {
  const cluster::working_directory directory(files, cluster::temporary_base(options.settings),
                                             "run");
  const auto state_directory = cluster::make_state_directory(files, options.settings);
  actors::node_options node_options;
  node_options.name = "run";
  HEADRACE_TRY(node_options.log,
               cluster::make_logger(options.settings, level_of(options.settings)));
  node_options.on_fatal = [](const error& cause) {
    std::fprintf(stderr, "headrace: fatal: %s\n", to_string(cause).c_str());
    _exit(failed);
  };
  cluster::mini_cluster_options cluster_options;
  cluster_options.settings = options.settings;
  cluster_options.task_executors = options.task_managers;
  cluster_options.slots = slots_of_each(options, job);
  HEADRACE_TRY(cluster_options.memory_bytes,
               cluster::managed_memory_bytes(options.settings, cluster::machine_memory_bytes(),
                                             options.task_managers));
  cluster_options.directory = directory.path();
  if (state_directory != nullptr)
    cluster_options.state_directory = state_directory->path();

  const auto node = actors::make_node(node_options);
  cluster::mini_cluster cluster(*node, files, loader, std::move(cluster_options));
  const auto run = [&]() -> result<int> {
    HEADRACE_CHECK(cluster.start());
    if (cluster.rest_port() != 0 && !options.quiet)
      std::fprintf(stderr, "REST interface: http://%s\n",
                   to_string(actors::host_port{actors::without_brackets(
                                                   options.settings.get_text("rest.bind-address")),
                                               cluster.rest_port()})
                       .c_str());
    scheduler::job_client client(*node, cluster.dispatcher(), cluster.blob_server());
    local_access access(client);
    return run_on(access, files, job, options);
  };
  auto code = run();
  node->shut_down();
  return code;
}

result<int> run_on_cluster(file_system& files, graph::job_graph& job, const run_options& options) {
  HEADRACE_TRY(const auto target, client::parse_target(options.target));
  HEADRACE_TRY(const auto cluster,
               client::remote_cluster::connect(options.settings, files, target));
  remote_access access(
      *cluster, [] { return signals_taken.load() > 0; },
      [&options](const std::string& words) {
        if (!options.quiet)
          std::fprintf(stderr, "headrace: %s\n", words.c_str());
      });
  return run_on(access, files, job, options);
}

} // namespace

int run_job(const run_options& options) {
  const auto files = make_local_file_system();
  api::object_loader loader(*files);
  auto built = loader.build(options.job, options.arguments, default_parallelism(options));
  if (!built) {
    const auto code = complain(built.error());
    return built.error().code == errc::job_object_unloadable ? bad_usage : code;
  }
  graph::connector_registry connectors;
  cluster::register_all_connectors(connectors, {});
  const auto bounded = cluster::is_bounded(built->graph, *built->code, connectors);
  if (!bounded)
    return complain(bounded.error());
  cluster::apply_settings(options.settings, *bounded, built->graph);
  auto& checkpoints = built->graph.checkpoints;
  if (!options.restore_from.empty())
    checkpoints.restore_from = options.restore_from;
  if (!checkpoints.restore_from.empty()) // the cluster's processes stand elsewhere
    checkpoints.restore_from = std::filesystem::absolute(checkpoints.restore_from).string();
  checkpoints.allow_non_restored_state =
      checkpoints.allow_non_restored_state || options.allow_non_restored_state;

  const auto random = make_system_random();
  built->graph.id = random->next_id<job_id>();
  take_signals(options.settings);
  const auto code = options.target.empty()
                        ? run_in_this_process(loader, *files, built->graph, options)
                        : run_on_cluster(*files, built->graph, options);
  return code ? *code : complain(code.error());
}

} // namespace headrace::run
