#pragma once

#include "apps/client/actors_text.hpp"
#include "apps/client/collected_rows.hpp"
#include "apps/client/job_files.hpp"
#include "apps/cluster/cluster_access.hpp"
#include "apps/shell/shell_endpoint.hpp"
#include "libscheduler/client/job_client.hpp"
#include "libgraph/api/job_object.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/option.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::shell {

/// What a job is submitted with.
struct submission {
  std::string path; ///< of a job object
  std::vector<std::string> arguments;
  std::int32_t parallelism = 0; ///< 0: parallelism.default, else the number of cores
  configuration settings;
};

/// Where a session puts what it has to say by itself. Either may be empty.
struct session_output {
  client::collected_rows::printer rows; ///< gets what jobs submitted here collect
  std::function<void(const std::string& words)> tell;
};

/// What shell commands and scripts do, one blocking call each, over the shell's actor. A job
/// manager that went away is waited for. For the thread that reads the commands; `interrupt` from a
/// signal handler, too.
class shell_session {
public:
  /// All live longer.
  shell_session(cluster::cluster_access& cluster, file_system& files, api::object_loader& loader,
                session_output output = {});
  ~shell_session();
  shell_session(const shell_session&) = delete;
  shell_session& operator=(const shell_session&) = delete;

  /// @errors those of object_loader::build, of the job's settings, and of the dispatcher
  result<job_id> submit(const submission& what);
  /// Submits a job, which gets an id.
  /// @param code  what the job's code lies in, the job object first
  /// @param take  gets what the job collects, while it is waited for; may be empty
  /// @errors those of the dispatcher
  result<job_id> submit(graph::job_graph& job, const std::vector<client::job_file>& code,
                        client::collected_rows::taker take);
  /// The job's last state. Tells `changed` meanwhile, on another thread, and prints the rows that
  /// the job collects, if it was submitted here.
  /// @errors timed_out     the job has not ended after `longest` (0: however long)
  /// @errors job_canceled  interrupted
  result<scheduler::job_status>
  wait(const job_id& job, std::chrono::milliseconds longest,
       std::function<void(const scheduler::job_status&)> changed = nullptr);
  result<scheduler::job_status> status_of(const job_id& job);
  status cancel(const job_id& job);
  /// Takes a savepoint, which may end the job: waits for that, too. @returns its directory
  /// @errors checkpoint_declined  the job cannot take one now
  result<std::string> savepoint(const job_id& job, scheduler::savepoint_wish wish);
  result<std::vector<scheduler::job_status>> list_jobs();
  /// Of all nodes, this one too.
  result<client::actor_list> list_actors();
  /// Takes the full id, or the beginning of just one job's, or "last" (also: nothing at all) for
  /// the one submitted last. @errors job_not_found, bad_usage
  result<job_id> find_job(std::string_view words);

  /// Nothing happens for so long, or until interrupted.
  void pause(std::chrono::milliseconds how_long);
  file_system& files() { return files_; }
  void interrupt() { is_interrupted_.store(true); }
  bool is_interrupted() const { return is_interrupted_.load(); }
  void clear_interrupt() { is_interrupted_.store(false); }

private:
  using changed_function = std::function<void(const scheduler::job_status&)>;

  template <class Reply, class Request>
  result<message<Reply>> ask(const message<Request>& what,
                             std::chrono::milliseconds timeout = std::chrono::milliseconds(0));
  template <class Reply, class Request>
  result<message<Reply>> ask_once(const message<Request>& what,
                                  std::chrono::milliseconds timeout = std::chrono::milliseconds(0));
  void order(actors::mail_ptr what);
  status recover(const error& failure);
  result<job_id> submit_once(const std::vector<client::job_file>& code, graph::job_graph& job);
  result<scheduler::job_status> follow(const job_id& job, std::int64_t end_us,
                                       const changed_function& changed);
  status print_collected(const job_id& job, bool has_ended);

  cluster::cluster_access& cluster_;
  file_system& files_;
  api::object_loader& loader_;
  session_output output_;
  std::optional<scheduler::job_client> client_; ///< for what no actor is needed for
  actors::address endpoint_;
  std::uint64_t watches_ = 0;
  job_id last_job_;
  std::map<job_id, client::collected_rows> collected_; ///< by jobs submitted here
  std::atomic<bool> is_interrupted_{false};
};

/// The job of `ids` that the words name. Pure; see shell_session::find_job.
result<job_id> match_job(std::string_view words, const std::vector<job_id>& ids,
                         const job_id& last);

} // namespace headrace::shell
