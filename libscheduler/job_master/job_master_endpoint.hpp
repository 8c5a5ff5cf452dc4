#pragma once

#include "libscheduler/checkpoint/checkpoint_mail.hpp"
#include "libscheduler/execution_graph/deployment.hpp"
#include "libscheduler/job_master/collected_rows.hpp"
#include "libscheduler/job_master/job_details.hpp"
#include "libscheduler/job_master/job_history.hpp"
#include "libscheduler/job_master/job_report.hpp"
#include "libscheduler/job_master/job_services.hpp"
#include "libscheduler/schedule/job_scheduler.hpp"
#include "libactors/rpc/endpoint.hpp"
#include "schema/checkpoint.capnp.h"
#include "schema/error.capnp.h"
#include "schema/job.capnp.h"
#include "schema/registration.capnp.h"
#include "schema/slot.capnp.h"
#include "schema/task.capnp.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headrace::scheduler {

/// Runs one job: carries out what its job_scheduler decides, over its children (slot pool,
/// checkpoint coordinator, a coordinator a source: one for all) and the task executors that
/// registered. Fenced by the job's token. Ends once the job has ended and its rows were fetched.
///
///     dispatcher ── job master ─┬─ slot pool ─────────────── resource manager
///                               ├─ checkpoint coordinator ── storage
///                               ├─ source coordinators
///                               └─ task executors (by address)
class job_master_endpoint final : public actors::endpoint {
public:
  /// @param generation  how often the job was recovered
  job_master_endpoint(std::shared_ptr<const graph::job_graph> job, std::int32_t generation,
                      fencing_token token, actors::address dispatcher,
                      std::shared_ptr<const job_services> services);
  ~job_master_endpoint() override;

private:
  struct executor_entry {
    actors::address location;
    std::map<execution_attempt_id, int> missing; // attempts that its heartbeats did not name
  };
  struct waiting_restore {
    std::vector<task_index> tasks;
    bool is_whole_job = false;
    bool is_first_start = false;
  };
  /// Somebody waits for a savepoint.
  struct savepoint_wait {
    actors::reply_to<schema::SavepointReply> back;
    graph::savepoint_stop stop = graph::savepoint_stop::none;
    checkpoint_id checkpoint = 0; // once it is lasting
    std::string path;
    std::string root; // below which it gets a directory
    int repeats = 0;
  };

  void on_start() override;
  void on_mail(actors::mail_ptr content) override;
  void on_child_ended(const std::string& name, const error& cause) override;
  void on_peer_ended(const actors::address& peer, const error& cause) override;

  // --- job_master_endpoint.cpp: life cycle and what the scheduler wants
  void answer_asks();
  void hear_tells();
  void start_children();
  void act();
  void carry_out(const want_slots& what);
  void carry_out(const release_slots& what);
  void carry_out(const restore_tasks& what);
  void carry_out(const deploy_task& what);
  void carry_out(const cancel_task& what);
  void carry_out(const restart_later& what);
  void carry_out(const task_changed& what);
  void carry_out(const job_changed& what);
  void restored(const restore_done& done);
  bool restores_again(const restore_done& done);
  void reset_coordinators(const waiting_restore& restore);
  void tell_cancel(task_index task);
  void cancel_again();
  void suspend(std::chrono::milliseconds patience, actors::reply_to<schema::Acknowledge> back);
  void suspend_now();
  void answer_suspenders();
  void hear_requested(const requested_checkpoint_ended& what);

  // --- job_master_savepoints.cpp
  void take_savepoint(const message<schema::TakeSavepoint>& request,
                      actors::reply_to<schema::SavepointReply> back);
  void hear_savepoint(const savepoint_ended& what);
  std::string new_savepoint(const std::string& root);
  /// Of a finished job: the savepoint that it was stopped with; empty: it ended by itself.
  std::string ending_savepoint() const;
  void fail_ending(bool restarts_whole_job);
  void answer_savepoints();

  void end_job();
  /// Has the end stored, and only then the checkpoints removed: whoever runs the job again before
  /// that finds them.
  void store_end();
  message<schema::JobEnded> describe_end();
  void report_end();
  void leave();

  // --- job_master_peers.cpp: resource manager and task executors
  void register_at_manager();
  void accept_executor(const message<schema::RegisterAtJobMaster>& request,
                       actors::reply_to<schema::RegistrationReply> back);
  void hear_heartbeat(const message<schema::Heartbeat>& beat, const actors::address& from);
  void compare_running(const task_executor_id& id, schema::Heartbeat::Reader beat);
  void beat();
  void lose_executor(const task_executor_id& id, const error& cause);
  void time_out_executor(const task_executor_id& id);
  void lose_manager(const std::string& cause);

  // --- job_master_messages.cpp: what tasks and clients say
  void hear_state(const message<schema::TaskStateChanged>& change);
  void hear_metrics(const message<schema::TaskMetricsReport>& report);
  void hear_event(const message<schema::OperatorEvent>& event);
  void hear_rows(const execution_attempt_id& from, task_index task, const operator_id& sink,
                 byte_view event);
  void tell_taken(const operator_id& sink, collected_rows& rows);
  /// Whether the client has rows of one of the tasks that come again when it starts without state.
  bool has_given_rows(const std::vector<task_index>& tasks) const;
  void hear_awaited(const message<schema::CheckpointAwaited>& awaited);
  void answer_partition_state(const message<schema::RequestPartitionState>& request,
                              actors::reply_to<schema::PartitionState> back);
  void take_figures(task_index task, const execution_attempt_id& attempt,
                    schema::TaskMetrics::Reader metrics);
  void answer_status(actors::reply_to<schema::JobStatus> back);
  void answer_details(actors::reply_to<schema::JobDetails> back);
  void tell_details(const message<schema::CheckpointOverview>& checkpoints);
  void send_details(actors::reply_to<schema::JobDetails> back,
                    const message<schema::CheckpointOverview>& checkpoints);
  void answer_fetch(const message<schema::FetchCollected>& request,
                    actors::reply_to<schema::CollectedRows> back);

  const job_facts& facts();
  std::int64_t now_ms() const { return now_us() / 1000; }

  std::shared_ptr<const graph::job_graph> job_;
  std::int32_t generation_;
  fencing_token token_;
  actors::address dispatcher_;
  std::shared_ptr<const job_services> services_;

  std::optional<job_scheduler> scheduler_;
  deployment_facts deployment_;
  job_facts facts_;
  job_history history_;
  std::deque<actors::reply_to<schema::JobDetails>> waiting_details_;
  message<schema::CheckpointOverview> final_overview_;
  actors::actor_ref pool_;
  actors::address pool_address_;
  actors::actor_ref checkpoints_;
  std::map<operator_id, actors::actor_ref> coordinators_;
  std::map<operator_id, std::int32_t> coordinated_; // source → position of its vertex

  std::map<std::uint64_t, waiting_restore> restores_;
  std::shared_ptr<const result<restored_job>> restored_; // the newest; null or without error
  std::map<operator_id, collected_rows> collected_;

  bool is_registered_ = false;
  bool is_registering_ = false;
  std::int64_t unregistered_since_us_ = 0;
  std::int64_t manager_heard_us_ = 0;
  std::map<task_executor_id, executor_entry> executors_;
  actors::heartbeat_monitor<task_executor_id> beats_;
  std::set<execution_attempt_id> submitted_; // answered by their task executor
  bool is_canceling_again_ = false;
  std::map<std::uint64_t, savepoint_wait> savepoints_; // by number
  std::uint64_t savepoint_number_ = 0;
  std::vector<actors::reply_to<schema::Acknowledge>> suspenders_;
  bool is_over_ = false;
  int recoveries_ = 0;
  bool stays_stored_ = false; // it could not go on from where the last job manager left it
  std::optional<std::int64_t> leaves_at_us_;
};

} // namespace headrace::scheduler
