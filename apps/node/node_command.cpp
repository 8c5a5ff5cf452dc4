#include "apps/node/node_command.hpp"

#include "apps/cluster/job_manager_process.hpp"
#include "apps/cluster/job_settings.hpp"
#include "apps/cluster/memory_settings.hpp"
#include "apps/cluster/mini_cluster.hpp"
#include "apps/cluster/process_settings.hpp"
#include "apps/cluster/remote_leader.hpp"
#include "apps/cluster/rest_service.hpp"
#include "apps/cluster/task_manager_process.hpp"
#include "apps/cluster/working_directory.hpp"
#include "apps/node/process_files.hpp"
#include "apps/node/process_signals.hpp"
#include "libtask/executor/rpc_data_network.hpp"
#include "libgraph/api/job_object.hpp"
#include "libactors/supervision/introspection_endpoint.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>
#include <unistd.h>

namespace headrace::node {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds ready_poll{5};
constexpr milliseconds goodbye_deadline{1'000};

bool has_job_manager(node_role role) { return role != node_role::task_manager; }
bool has_task_manager(node_role role) { return role != node_role::job_manager; }

std::string_view name_of(node_role role) {
  switch (role) {
  case node_role::job_manager:
    return "jobmanager";
  case node_role::task_manager:
    return "taskmanager";
  case node_role::standalone:
    return "standalone";
  }
  return "";
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

std::int32_t slots_of(const configuration& settings) {
  if (settings.is_set("taskmanager.numberOfTaskSlots"))
    return static_cast<std::int32_t>(settings.get_int("taskmanager.numberOfTaskSlots"));
  return static_cast<std::int32_t>(std::max(1U, std::thread::hardware_concurrency()));
}

actors::host_port job_manager_at(const configuration& settings) {
  auto host = actors::without_brackets(settings.get_text("jobmanager.rpc.address"));
  return {host.empty() ? "127.0.0.1" : host,
          static_cast<std::uint16_t>(settings.get_int("jobmanager.rpc.port"))};
}

/// What ends the process early, as its actors tell.
class fatal_word {
public:
  void tell(const error& cause) {
    {
      const std::lock_guard lock(guard_);
      cause_ = cause;
    }
    process_signals::raise_termination();
  }
  std::optional<error> heard() const {
    const std::lock_guard lock(guard_);
    return cause_;
  }

private:
  mutable std::mutex guard_;
  std::optional<error> cause_;
};

/// The parts of the process; all end with it. Made after the node, and ended before it.
class node_process {
public:
  node_process(const node_command_options& options, actors::node& node, file_system& files,
               api::object_loader& loader, std::string job_manager_directory,
               std::string working_directory, std::string state_directory,
               std::string local_state_directory)
      : options_(options), node_(node), files_(files), loader_(loader),
        job_manager_directory_(std::move(job_manager_directory)),
        working_directory_(std::move(working_directory)),
        state_directory_(std::move(state_directory)),
        local_state_directory_(std::move(local_state_directory)) {
    cluster::register_all_connectors(connectors_, {});
  }
  /// Ends all actors; those that do not end in time may use what is here for ever.
  ~node_process() {
    if (!node_.shut_down()) {
      std::fflush(nullptr);
      ::_exit(failed);
    }
    if (rpc_)
      rpc_->shut_down(goodbye_deadline);
  }
  node_process(const node_process&) = delete;
  node_process& operator=(const node_process&) = delete;

  status start() {
    HEADRACE_TRY(const auto rpc_settings,
                 actors::read_rpc_settings(options_.settings, files_,
                                           has_job_manager(options_.role)
                                               ? actors::process_role::job_manager
                                               : actors::process_role::task_manager));
    auto started = actors::rpc_system::start(node_, rpc_settings);
    if (!started)
      return error(started.error().code,
                   "cannot listen at " + to_string(rpc_settings.bind) +
                       "; choose another port with -D " +
                       (has_job_manager(options_.role) ? "jobmanager" : "taskmanager") +
                       ".rpc.port=PORT, 0 for any free one",
                   started.error());
    rpc_ = std::move(*started);
    actors::spawn_introspection(node_);
    if (has_job_manager(options_.role)) {
      job_manager_.emplace(
          node_, files_, loader_, connectors_,
          cluster::job_manager_options{options_.settings, job_manager_directory_, true});
      HEADRACE_CHECK(job_manager_->start());
      HEADRACE_TRY(const auto rest, cluster::start_rest(node_, options_.settings, addresses()));
      rest_port_ = rest.port;
    }
    if (has_task_manager(options_.role)) {
      cluster::task_manager_options wanted;
      wanted.settings = options_.settings;
      wanted.slots = slots_of(options_.settings);
      wanted.on_registered = [this] { is_registered_ = true; };
      wanted.directory = working_directory_;
      wanted.state_directory = state_directory_;
      wanted.local_state_directory = local_state_directory_;
      data_network_.emplace(*rpc_, own_address());
      wanted.network = &*data_network_;
      HEADRACE_TRY(wanted.memory_bytes, cluster::managed_memory_bytes(
                                            options_.settings, cluster::machine_memory_bytes(), 1));
      task_manager_.emplace(node_, files_, loader_, connectors_, leader(), std::move(wanted));
      task_manager_->start_task_executor();
    }
    return {};
  }

  bool is_ready() const { return !task_manager_ || is_registered_; }

  /// In words, and as lines for other programs.
  std::string describe() const {
    std::string out = "headrace " + std::string(name_of(options_.role)) + " is ready:";
    out += " rpc " + to_string(own_address());
    if (job_manager_)
      out += ", REST http://" +
             to_string(actors::host_port{
                 actors::without_brackets(options_.settings.get_text("rest.bind-address")),
                 rest_port_});
    if (task_manager_)
      out += ", " + std::to_string(slots_of(options_.settings)) + " slots";
    if (!job_manager_)
      out += ", registered at " + to_string(job_manager_at(options_.settings));
    return out;
  }
  std::string ready_lines() const {
    return "role=" + std::string(name_of(options_.role)) + "\npid=" + std::to_string(getpid()) +
           "\nrpc_port=" + std::to_string(rpc_->port()) +
           (job_manager_ ? "\nrest_port=" + std::to_string(rest_port_) : "") + "\n";
  }

  void stop(const std::string& cause) {
    if (job_manager_) {
      const auto time = options_.settings.get_duration("cluster.services.shutdown-timeout");
      if (const auto suspended = job_manager_->suspend(time / 2); !suspended)
        node_.environment().log.warn("jobs not suspended in order",
                                     {{"cause", to_string(suspended.error())}});
    }
    if (task_manager_)
      task_manager_->leave(cause);
  }

private:
  /// Where other processes reach this one.
  actors::host_port own_address() const {
    const bool leads = has_job_manager(options_.role);
    auto host = options_.settings.get_text(leads ? "jobmanager.rpc.address" : "taskmanager.host");
    if (host.empty())
      host = options_.settings.get_text(leads ? "jobmanager.bind-host" : "taskmanager.bind-host");
    return {actors::without_brackets(std::move(host)), rpc_->port()};
  }
  scheduler::cluster_addresses addresses() const {
    const auto own = own_address();
    return {job_manager_->dispatcher(),
            job_manager_->resource_manager(),
            job_manager_->blob_server(),
            own.host,
            own.port,
            cluster::job_settings_of(options_.settings),
            options_.settings.get_text("cluster.id")};
  }
  std::shared_ptr<actors::leader_retrieval> leader() {
    if (job_manager_)
      return std::make_shared<actors::fixed_leader>(job_manager_->resource_manager());
    return std::make_shared<cluster::remote_leader>(*rpc_, job_manager_at(options_.settings),
                                                    "resource_manager");
  }

  const node_command_options& options_;
  actors::node& node_;
  file_system& files_;
  api::object_loader& loader_;
  std::string job_manager_directory_;
  std::string working_directory_;
  std::string state_directory_;
  std::string local_state_directory_;
  graph::connector_registry connectors_;
  std::atomic<bool> is_registered_{false};
  std::unique_ptr<actors::rpc_system> rpc_;
  std::optional<task::rpc_data_network> data_network_;
  std::uint16_t rest_port_ = 0;
  std::optional<cluster::job_manager_process> job_manager_;
  std::optional<cluster::task_manager_process> task_manager_;
};

/// The directory of local copies of state: one that stays, and that nobody else uses, for a task
/// manager that has a name; else one that goes with the process.
class local_state_place {
public:
  static result<std::unique_ptr<local_state_place>> make(const node_command_options& options,
                                                         file_system& files) {
    auto made = std::make_unique<local_state_place>();
    const auto& settings = options.settings;
    if (!has_task_manager(options.role) ||
        !settings.get_bool("execution.state-recovery.from-local"))
      return made;
    const auto base = cluster::local_state_base(settings);
    const auto name = settings.get_text("taskmanager.resource-id");
    if (name.empty()) {
      made->passing_.emplace(files, base, "local_state");
      made->path_ = made->passing_->path();
      return made;
    }
    made->path_ = base + "/local_state";
    const auto own = made->path_ + "/" + to_string(cluster::resource_id(name, 0));
    HEADRACE_CHECK(files.create_directories(own));
    HEADRACE_TRY(auto lock, directory_lock::take(own, "another task manager has the name `" + name +
                                                          "`; give this one its own with -D "
                                                          "taskmanager.resource-id=NAME"));
    made->lock_.emplace(std::move(lock));
    return made;
  }
  const std::string& path() const { return path_; }
  /// Null: it stays.
  const cluster::working_directory* passing() const { return passing_ ? &*passing_ : nullptr; }

private:
  std::string path_;
  std::optional<cluster::working_directory> passing_;
  std::optional<directory_lock> lock_;
};

/// Names the option that what was done came from.
status of_option(std::string_view option, status done) {
  if (done)
    return done;
  const auto code = done.error().code;
  return error(code, std::string(option) + " cannot be used as it is set", std::move(done).error());
}

result<int> run(const node_command_options& options, process_signals& signals, file_system& files,
                told_files& told) {
  HEADRACE_CHECK(
      of_option("--pid-file", told.write(options.pid_file, std::to_string(getpid()) + "\n")));
  const auto base = cluster::temporary_base(options.settings);
  std::string lasting = options.settings.get_path("high-availability.storageDir");
  if (lasting.empty())
    lasting = base + "/jobmanager";
  std::optional<directory_lock> lock;
  if (has_job_manager(options.role)) {
    HEADRACE_CHECK(of_option("high-availability.storageDir, or io.tmp.dirs without one,",
                             files.create_directories(lasting)));
    HEADRACE_TRY(auto taken,
                 directory_lock::take(lasting, "another job manager uses the directory; give this "
                                               "one its own with -D "
                                               "high-availability.storageDir=DIRECTORY"));
    lock.emplace(std::move(taken));
  }
  const cluster::working_directory working(files, base, std::string(name_of(options.role)));
  HEADRACE_CHECK(of_option("io.tmp.dirs", files.create_directories(working.path())));
  const auto state_directory = cluster::make_state_directory(files, options.settings);
  HEADRACE_TRY(const auto local_state, local_state_place::make(options, files));

  graph::connector_registry connectors; // of jobs that are described here
  cluster::register_all_connectors(connectors, {});
  api::object_loader loader(files, &connectors);
  fatal_word fatal;
  actors::node_options node_options;
  node_options.name = std::string(name_of(options.role)) + "-" + std::to_string(getpid());
  HEADRACE_TRY(node_options.log,
               cluster::make_logger(options.settings, cluster::log_level_of(options.settings)));
  node_options.on_fatal = [&fatal](const error& cause) { fatal.tell(cause); };
  const auto node = actors::make_node(node_options);
  for (const auto* each : std::initializer_list<const cluster::working_directory*>{
           &working, state_directory.get(), local_state->passing()})
    if (each != nullptr)
      each->remove_abandoned(node->environment().blocking, node->environment().log);
  const auto limit = options.settings.get_duration("cluster.services.shutdown-timeout");
  {
    node_process process(options, *node, files, loader, lasting, working.path(),
                         state_directory == nullptr ? std::string() : state_directory->path(),
                         local_state->path());
    HEADRACE_CHECK(process.start());
    bool is_told = false;
    while (!is_told) {
      if (process.is_ready()) {
        HEADRACE_CHECK(
            of_option("--ready-file", told.write(options.ready_file, process.ready_lines())));
        std::printf("%s\n", process.describe().c_str());
        std::fflush(stdout);
        is_told = true;
      } else if (signals.wait_for(ready_poll)) {
        break;
      }
    }
    if (is_told)
      signals.wait();
    process_signals::end_process_after(limit, failed);
    if (!fatal.heard())
      process.stop("process was told to stop");
  }
  if (const auto cause = fatal.heard())
    return error(cause->code, "fatal: " + cause->message, *cause);
  return static_cast<int>(stopped);
}

} // namespace

int run_node(const node_command_options& options) {
  process_signals signals;
  const auto files = make_local_file_system();
  told_files told(*files);
  const auto code = run(options, signals, *files, told);
  return code ? *code : complain(code.error());
}

} // namespace headrace::node
