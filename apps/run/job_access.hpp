#pragma once

#include "libscheduler/client/job_client.hpp"
#include "libactors/base/result.hpp"

namespace headrace::run {

/// A cluster that runs a job, as the one who follows the job sees it.
class job_access {
public:
  virtual ~job_access() = default;
  virtual scheduler::job_client& client() = 0;
  /// Waits until the cluster answers again. @returns why it makes no sense to ask again
  virtual status recover(const error& failure) = 0;
};

/// A cluster in this process: what fails, fails. Without an answer in time the process had no time
/// to run, or was stopped, and is asked again.
class local_access final : public job_access {
public:
  explicit local_access(scheduler::job_client& client) : client_(client) {}
  scheduler::job_client& client() override { return client_; }
  status recover(const error& failure) override {
    return failure.code == errc::timed_out ? status() : status(failure);
  }

private:
  scheduler::job_client& client_;
};

} // namespace headrace::run
