#pragma once

#include "libscheduler/execution_graph/execution_graph.hpp"
#include "libscheduler/schedule/job_scheduler.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace headrace::scheduler {

/// A failure that made tasks, or the job, start again or end.
struct past_exception {
  std::int64_t at_ms = 0; ///< time of day
  error failure;
  std::string task;          ///< for people; empty: the whole job
  task_executor_id executor; ///< none: the whole job
};

/// When things happened to a job: its states, its tasks' attempts, its newest failures. Times of
/// day in milliseconds. Pure; lives in the job master's turns.
class job_history {
public:
  static constexpr std::size_t exceptions_max = 16;
  struct attempt_times {
    std::int64_t started_ms = 0; ///< 0: not yet
    std::int64_t ended_ms = 0;
  };

  void start(std::int32_t tasks, std::int64_t now_ms);
  void entered(job_state state, std::int64_t now_ms) {
    state_times_ms_[static_cast<std::size_t>(state)] = now_ms;
  }
  void task_entered(task_index task, task_state state, std::int64_t now_ms);
  void failed(const execution_graph& graph, const noted_failure& what, std::int64_t now_ms);

  /// 0: never entered.
  const std::array<std::int64_t, job_state_count>& state_times_ms() const {
    return state_times_ms_;
  }
  const attempt_times& times_of(task_index task) const {
    return attempts_[static_cast<std::size_t>(task)];
  }
  const std::deque<past_exception>& exceptions() const { return exceptions_; } ///< newest first
  bool has_forgotten() const { return has_forgotten_; }

private:
  std::array<std::int64_t, job_state_count> state_times_ms_{};
  std::vector<attempt_times> attempts_;
  std::deque<past_exception> exceptions_;
  bool has_forgotten_ = false;
};

} // namespace headrace::scheduler
