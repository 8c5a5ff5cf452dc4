#pragma once

#include "libscheduler/dispatcher/job_book.hpp"
#include "libscheduler/dispatcher/job_store.hpp"
#include "libscheduler/dispatcher/savepoint_operations.hpp"
#include "libscheduler/job_master/job_services.hpp"
#include "libactors/rpc/endpoint.hpp"
#include "schema/error.capnp.h"
#include "schema/job.capnp.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace headrace::scheduler {

struct dispatcher_settings {
  std::chrono::milliseconds ask_timeout{10'000};
  /// For a savepoint, and for the end of the job behind it; the checkpoint timeout ends it first.
  std::chrono::milliseconds savepoint_timeout{86'400'000};
  std::size_t savepoints_max = 1'000;   ///< whose outcomes are kept
  std::size_t ended_jobs_max = 100;     ///< whose results are kept
  std::size_t waiting_clients_max = 64; ///< that wait for the result of one job
  std::size_t early_asks_max = 1'024;   ///< that wait until stored jobs are known
  int recoveries_max = 30;              ///< that stored jobs are read where storage fails
  std::chrono::milliseconds recovery_pause{1'000}; ///< before they are read again
  /// That the end of a job is stored, with the same pause, before its clients are told of an end
  /// which is not: all of them within a job master's ask.
  int end_tries = 5;
  /// Job masters of one job that end by a fault of their own and are started again, before the job
  /// fails with that.
  int master_restarts_max = 3;
};

/// Takes jobs in, stores them, runs a job master for each, and answers clients about them. A job
/// master's end takes no other job down, and the job goes on under another one from its newest
/// checkpoint. One a cluster.
class dispatcher_endpoint final : public actors::endpoint {
public:
  /// `services`, `store`: shared with all job masters and executor steps.
  dispatcher_endpoint(dispatcher_settings settings, std::shared_ptr<job_store> store,
                      std::shared_ptr<const job_services> services);

private:
  using job_ptr = std::shared_ptr<const graph::job_graph>;
  struct job_master {
    job_ptr job;
    int restarts = 0; ///< of job masters before it
  };
  using store_step = std::function<status(job_store&)>;
  using store_then = std::function<void(const status&)>;

  void on_start() override;
  void on_child_ended(const std::string& name, const error& cause) override;

  void submit(const message<schema::SubmitJob>& request,
              actors::reply_to<schema::SubmitJobReply> back);
  void start_master(const job_ptr& job, std::int32_t generation, int restarts = 0);
  void restart_master(const job_master& lost, const error& cause, int tries);
  void fail_without_master(const job_id& job, const error& cause);
  void cancel(const message<schema::CancelJob>& request,
              actors::reply_to<schema::Acknowledge> back);
  void take_savepoint(const message<schema::TakeSavepoint>& request,
                      actors::reply_to<schema::SavepointReply> back);
  void trigger_savepoint(const message<schema::TriggerSavepoint>& request,
                         actors::reply_to<schema::Acknowledge> back);
  void answer_savepoint(const message<schema::RequestSavepointStatus>& request,
                        actors::reply_to<schema::SavepointStatus> back);
  /// Forgets a job that was refused and stayed stored.
  void give_up(const job_id& job, actors::reply_to<schema::Acknowledge> back);
  error unknown(const job_id& job) const;
  /// What a job master is needed for, of a job that has none.
  error without_master(const job_id& job);
  void suspend(const message<schema::SuspendJobs>& order,
               actors::reply_to<schema::Acknowledge> back);
  void answer_status(const message<schema::RequestJobStatus>& request,
                     actors::reply_to<schema::JobStatus> back);
  void answer_details(const message<schema::RequestJobDetails>& request,
                      actors::reply_to<schema::JobDetails> back);
  void answer_result(const message<schema::RequestJobResult>& request,
                     actors::reply_to<schema::JobResult> back);
  void answer_list(const message<schema::ListJobs>& request,
                   actors::reply_to<schema::JobList> back);
  void answer_fetch(const message<schema::FetchCollected>& request,
                    actors::reply_to<schema::CollectedRows> back);
  void hear_end(const message<schema::JobEnded>& how, actors::reply_to<schema::Acknowledge> back);
  /// Tells the end of a job, of which its master told before, to clients.
  void close(const job_id& job);
  void answer_waiting(const job_id& job);
  /// @param tries  where storage fails, with a pause between them
  void store_end(const job_id& job, const message<schema::JobEnded>& how, int tries,
                 store_then then);
  void recover();
  void recovered();

  /// Registers the handler of an ask that waits until stored jobs are known.
  template <class Request, class Reply>
  void on_client_ask(void (dispatcher_endpoint::*answer)(const message<Request>&,
                                                         actors::reply_to<Reply>));

  template <class Reply, class Request>
  using answerer = void (dispatcher_endpoint::*)(const message<Request>&, actors::reply_to<Reply>);
  /// Asks a job master and hands its answer on. When the master has ended meanwhile, `again`
  /// answers from what is known by then. Zero: the usual timeout.
  template <class Reply, class Request>
  void pass_on(const job_book::running_job& job, const message<Request>& request,
               actors::reply_to<Reply> back, answerer<Reply, Request> again = nullptr,
               std::chrono::milliseconds timeout = std::chrono::milliseconds(0));
  /// A status for a job whose master is not there yet.
  static message<schema::JobStatus> created_status(const job_id& job,
                                                   const job_book::running_job& known);
  void on_store(store_step step, store_then then);
  void next_store_step();

  dispatcher_settings settings_;
  std::shared_ptr<job_store> store_;
  std::shared_ptr<const job_services> services_;
  job_book book_;
  savepoint_operations savepoints_;
  std::map<job_id, std::deque<actors::reply_to<schema::JobResult>>> waiting_;
  struct ending_job {
    message<schema::JobEnded> how;
    bool is_stored = false;
  };
  int recoveries_ = 0;
  std::set<job_id> refused_;            // have ended, and stay stored
  std::map<job_id, ending_job> ending_; // their masters clean up
  std::map<job_id, std::pair<actors::address, fencing_token>> lingering_; // ended, rows to fetch
  std::map<std::string, job_master> masters_;                             // by the child's name
  std::deque<std::pair<store_step, store_then>> store_queue_;
  bool is_store_busy_ = false;
  bool is_recovering_ = true;
  bool is_suspending_ = false;
  std::vector<std::function<void()>> until_recovered_; // asks that came too early
};

} // namespace headrace::scheduler
