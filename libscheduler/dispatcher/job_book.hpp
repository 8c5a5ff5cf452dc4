#pragma once

#include "libactors/base/error.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/message/message.hpp"
#include "libactors/rpc/address.hpp"
#include "schema/job.capnp.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace headrace::scheduler {

/// What a dispatcher knows of its jobs: those that run, with their masters, and how the newest of
/// those that have ended did end. The core of the dispatcher. Pure.
class job_book {
public:
  struct running_job {
    std::string name;
    std::int64_t submitted_ms = 0;
    actors::address master; ///< none until it is started
    fencing_token token;
    bool is_cancel_wanted = false; ///< asked for before the master was there
  };
  struct ended_job {
    message<schema::JobEnded> how;
  };

  explicit job_book(std::size_t ended_max) : ended_max_(ended_max) {}

  /// @errors duplicate_job  it runs, or ran
  status add(const job_id& job, std::string name, std::int64_t now_ms);
  /// The master is started. @returns whether a cancel waits for it
  bool started(const job_id& job, actors::address master, fencing_token token);
  /// The master has ended, and another one is to be started.
  void master_gone(const job_id& job);
  /// Forgets a job that never started (its submission failed).
  void forget(const job_id& job) { running_.erase(job); }
  /// The job has ended. Forgets the oldest ended job when there are too many.
  /// @returns false when it was not running
  bool ended(const job_id& job, message<schema::JobEnded> how);
  /// A job ended before this book was begun.
  void remember(const job_id& job, message<schema::JobEnded> how);
  /// The master of a job ended without saying how the job did: makes it a failed one.
  bool master_lost(const job_id& job, const error& cause, std::int64_t now_ms);

  running_job* find_running(const job_id& job);
  const ended_job* find_ended(const job_id& job) const;
  const std::map<job_id, running_job>& running() const { return running_; }
  /// Oldest first.
  std::vector<job_id> ended_jobs() const { return {order_.begin(), order_.end()}; }

private:
  std::size_t ended_max_;
  std::map<job_id, running_job> running_;
  std::map<job_id, ended_job> ended_;
  std::deque<job_id> order_; // of ended jobs, oldest first
};

} // namespace headrace::scheduler
