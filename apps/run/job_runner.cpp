#include "apps/run/job_runner.hpp"

#include "apps/client/job_text.hpp"
#include "apps/client/remote_cluster.hpp"
#include "apps/cluster/job_settings.hpp"
#include "apps/cluster/memory_settings.hpp"
#include "apps/cluster/mini_cluster.hpp"
#include "apps/cluster/process_settings.hpp"
#include "apps/cluster/working_directory.hpp"
#include "apps/run/progress.hpp"
#include "apps/run/remote_access.hpp"
#include "libscheduler/client/job_client.hpp"
#include "libactors/base/random.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>
#include <thread>
#include <unistd.h>
#include <utility>

namespace headrace::run {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds poll_interval{100};

std::atomic<int> signals_taken{0};
std::atomic<unsigned> stop_seconds{0}; ///< that a canceled run may take to end

std::atomic<bool> has_to_cancel{false}; ///< a job is there, and no cancel was answered yet

/// From a signal's handler.
template <std::size_t Size>
void say(const char (&words)[Size]) {
  static_cast<void>(!::write(STDERR_FILENO, &words[0], Size - 1));
}

/// The first one cancels the job; what then stands still does not keep the process. A second one
/// may come at once (a script's `timeout` signals the process and its group): it ends the process
/// only when the job does not depend on that any more.
extern "C" void take_signal(int number) {
  if (signals_taken.fetch_add(1) == 0) {
    ::alarm(stop_seconds.load());
    return;
  }
  if (has_to_cancel.load()) {
    say("\nheadrace: the job is being canceled; a signal ends this process once that was heard\n");
    return;
  }
  say("\nheadrace: ended by a second signal\n");
  _exit(128 + number);
}

extern "C" void end_late_run(int /*number*/) {
  say("\nheadrace: the run did not end within cluster.services.shutdown-timeout after the signal, "
      "and is ended\n");
  _exit(failed);
}

/// @param is_local  the job ends with this process, so also when its terminal goes
void take_signals(const configuration& settings, bool is_local) {
  const auto limit = settings.get_duration("cluster.services.shutdown-timeout");
  stop_seconds.store(static_cast<unsigned>((limit.count() + 999) / 1000)); // at least one
  std::signal(SIGALRM, end_late_run);
  std::signal(SIGINT, take_signal);
  std::signal(SIGTERM, take_signal);
  if (is_local && std::signal(SIGHUP, take_signal) == SIG_IGN)
    std::signal(SIGHUP, SIG_IGN); // of nohup
  std::signal(SIGPIPE, SIG_IGN);  // who reads no more (head) fails the write, and so the job
}

log_level level_of(const configuration& settings) {
  if (!settings.is_set("log.level") && !settings.is_set("log.file"))
    return log_level::off; // progress and the end say it, once
  return cluster::log_level_of(settings);
}

/// Waits for the job's end, telling of it meanwhile.
class follower {
public:
  follower(job_access& access, const graph::job_graph& job, bool tells_progress,
           client::collected_rows::taker take)
      : access_(access), job_(job.id), rows_(job, std::move(take)),
        shown_(!tells_progress              ? progress::style::none
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
  /// Takes what is new, then waits a little. @returns how the job ended, once it has
  result<std::optional<scheduler::job_status>> look() {
    auto& client = access_.client();
    HEADRACE_TRY(auto status, client.status(job_));
    HEADRACE_CHECK(end_unless(rows_.take_new(client)));
    if (scheduler::is_terminal(status.state)) {
      HEADRACE_CHECK(rows_.take_rest(client));
      return std::optional(std::move(status));
    }
    shown_.show(status);
    if (signals_taken.load() > 0 && !is_canceling_) {
      const auto heard = client.cancel(job_);
      has_to_cancel = false; // refused, it is not heard a second time, either
      HEADRACE_CHECK(heard);
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

/// Whatever a run ends with, a signal behind it ends the process.
struct leaving {
  leaving() = default;
  leaving(const leaving&) = delete;
  leaving& operator=(const leaving&) = delete;
  ~leaving() { has_to_cancel = false; }
};

/// Uploads the job's code and submits the job; again, when the cluster was away meanwhile.
status submit(job_access& access, file_system& files, graph::job_graph& job,
              const std::vector<client::job_file>& code) {
  for (bool is_first = true;; is_first = false) {
    const auto submitted = [&]() -> status {
      HEADRACE_CHECK(client::upload_files(access.client(), files, code, job));
      HEADRACE_CHECK(access.client().submit(job));
      return {};
    }();
    if (submitted || (!is_first && submitted.error().code == errc::duplicate_job))
      return {}; // the first one had arrived
    HEADRACE_CHECK(access.recover(submitted.error()));
  }
}

/// A cluster in this process.
class local_runner final : public job_runner {
public:
  local_runner(file_system& files, const run_options& options)
      : job_runner(files, options), files_(files), options_(options),
        directory_(files, cluster::temporary_base(options.settings), "run"),
        state_directory_(cluster::make_state_directory(files, options.settings)) {}
  ~local_runner() override {
    if (node_ != nullptr)
      node_->shut_down();
  }
  local_runner(const local_runner&) = delete;
  local_runner& operator=(const local_runner&) = delete;

  status start(api::object_loader& loader, std::int32_t slots) {
    actors::node_options node_options;
    node_options.name = "run";
    HEADRACE_TRY(node_options.log,
                 cluster::make_logger(options_.settings, level_of(options_.settings)));
    node_options.on_fatal = [](const error& cause) {
      std::fprintf(stderr, "headrace: fatal: %s\n", to_string(cause).c_str());
      _exit(failed);
    };
    cluster::mini_cluster_options parts;
    parts.settings = options_.settings;
    parts.task_executors = options_.task_managers;
    parts.slots = slots_of_each(slots);
    HEADRACE_TRY(parts.memory_bytes,
                 cluster::managed_memory_bytes(options_.settings, cluster::machine_memory_bytes(),
                                               options_.task_managers));
    parts.directory = directory_.path();
    if (state_directory_ != nullptr)
      parts.state_directory = state_directory_->path();
    node_ = actors::make_node(node_options);
    const auto& around = node_->environment();
    directory_.remove_abandoned(around.blocking, around.log);
    if (state_directory_ != nullptr)
      state_directory_->remove_abandoned(around.blocking, around.log);
    cluster_ = std::make_unique<cluster::mini_cluster>(*node_, files_, loader, std::move(parts));
    HEADRACE_CHECK(cluster_->start());
    if (cluster_->rest_port() != 0 && !options_.quiet)
      std::fprintf(stderr, "REST interface: http://%s\n",
                   to_string(actors::host_port{actors::without_brackets(
                                                   options_.settings.get_text("rest.bind-address")),
                                               cluster_->rest_port()})
                       .c_str());
    client_.emplace(*node_, cluster_->dispatcher(), cluster_->blob_server());
    access_.emplace(*client_);
    return {};
  }

protected:
  job_access& access() override { return *access_; }

private:
  /// Of each task manager: as the settings say, else what the jobs need.
  std::int32_t slots_of_each(std::int32_t needed) const {
    const auto& settings = options_.settings;
    if (settings.is_set("taskmanager.numberOfTaskSlots"))
      return static_cast<std::int32_t>(settings.get_int("taskmanager.numberOfTaskSlots"));
    return std::max<std::int32_t>(1,
                                  (needed + options_.task_managers - 1) / options_.task_managers);
  }

  file_system& files_;
  const run_options& options_;
  cluster::working_directory directory_; // outlives the node
  std::unique_ptr<cluster::working_directory> state_directory_;
  std::unique_ptr<actors::node> node_;
  std::unique_ptr<cluster::mini_cluster> cluster_;
  std::optional<scheduler::job_client> client_;
  std::optional<local_access> access_;
};

/// A cluster of other processes.
class remote_runner final : public job_runner {
public:
  remote_runner(file_system& files, const run_options& options,
                std::unique_ptr<client::remote_cluster> cluster)
      : job_runner(files, options), cluster_(std::move(cluster)),
        access_(
            *cluster_, [] { return is_interrupted(); },
            [&options](const std::string& words) {
              if (!options.quiet)
                std::fprintf(stderr, "headrace: %s\n", words.c_str());
            }) {}

protected:
  job_access& access() override { return access_; }

private:
  std::unique_ptr<client::remote_cluster> cluster_;
  remote_access access_;
};

} // namespace

bool job_runner::is_interrupted() { return signals_taken.load() > 0; }

result<std::unique_ptr<job_runner>> job_runner::start(file_system& files,
                                                      api::object_loader& loader,
                                                      const run_options& options,
                                                      std::int32_t slots) {
  take_signals(options.settings, options.target.empty());
  if (options.target.empty()) {
    auto made = std::make_unique<local_runner>(files, options);
    HEADRACE_CHECK(made->start(loader, slots));
    return std::unique_ptr<job_runner>(std::move(made));
  }
  HEADRACE_TRY(const auto target, client::parse_target(options.target));
  HEADRACE_TRY(auto cluster, client::remote_cluster::connect(options.settings, files, target));
  return std::unique_ptr<job_runner>(
      std::make_unique<remote_runner>(files, options, std::move(cluster)));
}

result<int> job_runner::run(graph::job_graph& job, const std::vector<client::job_file>& code,
                            client::collected_rows::taker take, bool tells_progress) {
  job.id = make_system_random()->next_id<job_id>();
  has_to_cancel = !options_.is_detached;
  const leaving none_to_cancel;
  HEADRACE_CHECK(submit(access(), files_, job, code));
  if (options_.is_detached) {
    std::printf(options_.is_json ? "{\"id\":\"%s\"}\n" : "%s\n", to_string(job.id).c_str());
    return static_cast<int>(finished);
  }
  HEADRACE_TRY(
      const auto ended,
      follower(access(), job, tells_progress && !options_.quiet, std::move(take)).follow());
  if (options_.is_json)
    std::fputs(client::job_as_json(ended).c_str(), stdout);
  if (ended.state != scheduler::job_state::finished && !options_.quiet &&
      (!job.checkpoints.directory.empty() || !job.checkpoints.restore_from.empty()))
    std::fprintf(stderr, "%s\n", describe_way_on(ended, job.checkpoints.restore_from).c_str());
  switch (ended.state) {
  case scheduler::job_state::finished:
    return static_cast<int>(finished);
  case scheduler::job_state::canceled:
    return static_cast<int>(canceled);
  default:
    return ended.failure;
  }
}

std::int32_t default_parallelism(const run_options& options, const configuration& settings) {
  if (options.parallelism > 0)
    return options.parallelism;
  if (settings.is_set("parallelism.default"))
    return static_cast<std::int32_t>(settings.get_int("parallelism.default"));
  if (!options.target.empty())
    return 1; // who knows what the cluster's machines have
  const auto cores = std::thread::hardware_concurrency();
  return cores == 0 ? 1 : static_cast<std::int32_t>(cores);
}

result<run_options> with_cluster_settings(run_options options) {
  if (!options.target.empty()) {
    HEADRACE_TRY(const auto target, client::parse_target(options.target));
    HEADRACE_TRY(options.settings, client::with_settings_of(target, std::move(options.settings)));
  }
  return options;
}

status apply_options(const run_options& options, const configuration& settings, bool is_bounded,
                     graph::job_graph& job) {
  auto& checkpoints = job.checkpoints;
  if (!options.restore_from.empty())
    checkpoints.restore_from = options.restore_from;
  checkpoints.allow_non_restored_state =
      checkpoints.allow_non_restored_state || options.allow_non_restored_state;
  return cluster::apply_settings(settings, is_bounded, job);
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

} // namespace headrace::run
