#pragma once

#include "libscheduler/client/job_client.hpp"
#include "libscheduler/execution_graph/life_cycle.hpp"
#include "libactors/base/random.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace headrace::testing {

/// Stops a job with a savepoint: again, until that has succeeded, whatever befalls job and job
/// manager meanwhile.
class testing_stop {
public:
  testing_stop(const job_id& job, random_source& random, bool is_native, bool drains)
      : job_(job), random_(random) {
    wish_.target_directory = directory;
    wish_.is_native = is_native;
    wish_.stop = drains ? graph::savepoint_stop::drain : graph::savepoint_stop::suspend;
  }

  /// To be called again and again. @returns the savepoint's path, once the job has ended with it
  std::optional<std::string> look(scheduler::job_client& client,
                                  const scheduler::job_status& status) {
    if (trigger_) {
      const auto known = client.savepoint_status(job_, *trigger_);
      if (known && !*known)
        return std::nullopt;
      trigger_.reset();
      if (known)
        return (**known).path;
    }
    if (scheduler::is_terminal(status.state)) {
      // A job manager that starts again does not know the trigger, but what the job ended with.
      if (status.last_checkpoint_path.starts_with(directory))
        return status.last_checkpoint_path;
      return std::nullopt;
    }
    const auto trigger = random_.next_id<savepoint_trigger_id>();
    if (client.trigger_savepoint(job_, trigger, wish_))
      trigger_ = trigger;
    return std::nullopt;
  }
  bool is_waiting() const { return trigger_.has_value(); }

private:
  static constexpr std::string_view directory = "/savepoints";

  job_id job_;
  random_source& random_;
  scheduler::savepoint_wish wish_;
  std::optional<savepoint_trigger_id> trigger_;
};

} // namespace headrace::testing
