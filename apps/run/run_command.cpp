#include "apps/run/run_command.hpp"

#include "apps/cluster/job_settings.hpp"
#include "apps/cluster/memory_settings.hpp"
#include "apps/cluster/mini_cluster.hpp"
#include "apps/run/collected_printer.hpp"
#include "apps/run/progress.hpp"
#include "libscheduler/client/job_client.hpp"
#include "libgraph/api/job_object.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>

namespace headrace::run {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds poll_interval{100};

std::atomic<int> signals_taken{0};

extern "C" void take_signal(int number) {
  if (signals_taken.fetch_add(1) > 0)
    _exit(128 + number);
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
  if (!settings.is_set("log.level"))
    return log_level::warn; // progress says the rest
  static constexpr std::pair<std::string_view, log_level> levels[] = {
      {"trace", log_level::trace}, {"debug", log_level::debug}, {"info", log_level::info},
      {"warn", log_level::warn},   {"error", log_level::error}, {"off", log_level::off}};
  const auto text = settings.get_text("log.level");
  for (const auto& [name, level] : levels)
    if (name == text)
      return level;
  return log_level::warn;
}

/// A directory of this run's own, gone with it.
class working_directory {
public:
  working_directory(file_system& files, const configuration& settings) : files_(files) {
    std::string base = settings.get_text("io.tmp.dirs");
    if (base.empty()) {
      const char* named = std::getenv("TMPDIR");
      base = std::string(named != nullptr && *named != '\0' ? named : "/tmp") + "/headrace-" +
             std::to_string(getuid());
    }
    path_ = base + "/run-" + std::to_string(getpid());
  }
  ~working_directory() { static_cast<void>(files_.remove_tree(path_)); }
  working_directory(const working_directory&) = delete;
  working_directory& operator=(const working_directory&) = delete;
  const std::string& path() const { return path_; }

private:
  file_system& files_;
  std::string path_;
};

std::int32_t default_parallelism(const run_options& options) {
  if (options.parallelism > 0)
    return options.parallelism;
  if (options.settings.is_set("parallelism.default"))
    return static_cast<std::int32_t>(options.settings.get_int("parallelism.default"));
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
result<scheduler::job_status> follow(scheduler::job_client& client, const graph::job_graph& job,
                                     const run_options& options) {
  progress shown(options.quiet                ? progress::style::none
                 : isatty(STDERR_FILENO) != 0 ? progress::style::live
                                              : progress::style::lines);
  collected_printer rows(client, job);
  bool canceling = false;
  while (true) {
    HEADRACE_TRY(auto status, client.status(job.id));
    HEADRACE_CHECK(rows.print_new());
    if (scheduler::is_terminal(status.state)) {
      HEADRACE_CHECK(rows.print_rest());
      shown.end(status);
      return status;
    }
    shown.show(status);
    if (signals_taken.load() > 0 && !canceling) {
      canceling = true;
      HEADRACE_CHECK(client.cancel(job.id));
    }
    if (const auto ended = client.wait(job.id, poll_interval);
        !ended && ended.error().code != errc::timed_out)
      return ended.error();
  }
}

result<int> run_on(actors::node& node, cluster::mini_cluster& cluster, file_system& files,
                   graph::job_graph& job, const run_options& options) {
  HEADRACE_CHECK(cluster.start());
  if (cluster.rest_port() != 0 && !options.quiet)
    std::fprintf(stderr, "REST interface: http://%s:%u\n",
                 options.settings.get_text("rest.bind-address").c_str(),
                 static_cast<unsigned>(cluster.rest_port()));
  scheduler::job_client client(node, cluster.dispatcher(), cluster.blob_server());
  HEADRACE_TRY(auto artifact, client.upload(files, options.job, options.job));
  job.artifacts.insert(job.artifacts.begin(), std::move(artifact));
  HEADRACE_CHECK(client.submit(job));
  HEADRACE_TRY(const auto ended, follow(client, job, options));
  if (ended.state != scheduler::job_state::finished && !options.quiet &&
      !job.checkpoints.directory.empty() && !ended.last_checkpoint_path.empty())
    std::fprintf(stderr, "%s: goes on from its last checkpoint with --from-checkpoint %s\n",
                 job.name.c_str(), ended.last_checkpoint_path.c_str());
  switch (ended.state) {
  case scheduler::job_state::finished:
    return static_cast<int>(finished);
  case scheduler::job_state::canceled:
    return static_cast<int>(canceled);
  default:
    return ended.failure;
  }
}

} // namespace

int run_job(const run_options& options) {
  const auto files = make_local_file_system();
  api::object_loader loader(*files);
  auto built = loader.build(options.job, options.arguments, default_parallelism(options));
  if (!built)
    return complain(built.error());
  graph::connector_registry connectors;
  cluster::register_all_connectors(connectors, {});
  const auto bounded = cluster::is_bounded(built->graph, *built->code, connectors);
  if (!bounded)
    return complain(bounded.error());
  cluster::apply_settings(options.settings, *bounded, built->graph);
  if (!options.restore_from.empty()) {
    built->graph.checkpoints.restore_from = options.restore_from;
    built->graph.checkpoints.allow_non_restored_state = options.allow_non_restored_state;
  }

  std::signal(SIGINT, take_signal);
  std::signal(SIGTERM, take_signal);
  const working_directory directory(*files, options.settings);
  actors::node_options node_options;
  node_options.name = "run";
  node_options.log = logger::to("", level_of(options.settings));
  node_options.on_fatal = [](const error& cause) {
    std::fprintf(stderr, "headrace: fatal: %s\n", to_string(cause).c_str());
    _exit(failed);
  };
  cluster::mini_cluster_options cluster_options;
  cluster_options.settings = options.settings;
  cluster_options.task_executors = options.task_managers;
  cluster_options.slots = slots_of_each(options, built->graph);
  const auto memory = cluster::managed_memory_bytes(
      options.settings, cluster::machine_memory_bytes(), options.task_managers);
  if (!memory)
    return complain(memory.error());
  cluster_options.memory_bytes = *memory;
  cluster_options.directory = directory.path();

  const auto node = actors::make_node(node_options);
  cluster::mini_cluster cluster(*node, *files, loader, std::move(cluster_options));
  built->graph.id = node->environment().random.next_id<job_id>();
  auto code = run_on(*node, cluster, *files, built->graph, options);
  node->shut_down();
  return code ? *code : complain(code.error());
}

} // namespace headrace::run
