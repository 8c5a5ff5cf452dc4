#include "libscheduler/job_master/job_history.hpp"

#include <utility>

namespace headrace::scheduler {

void job_history::start(std::int32_t tasks, std::int64_t now_ms) {
  attempts_.assign(static_cast<std::size_t>(tasks), {});
  entered(job_state::created, now_ms);
}

void job_history::task_entered(task_index task, task_state state, std::int64_t now_ms) {
  auto& times = attempts_[static_cast<std::size_t>(task)];
  if (state == task_state::created || state == task_state::scheduled)
    times = {};
  else if (state == task_state::deploying)
    times = {now_ms, 0};
  else if (is_terminal(state))
    times.ended_ms = now_ms;
}

void job_history::failed(const execution_graph& graph, const noted_failure& what,
                         std::int64_t now_ms) {
  past_exception entry{now_ms, what.cause, {}, {}};
  if (what.task) {
    entry.task = graph.name_of(*what.task);
    entry.executor = what.executor;
  }
  exceptions_.push_front(std::move(entry));
  if (exceptions_.size() > exceptions_max) {
    exceptions_.pop_back();
    has_forgotten_ = true;
  }
}

} // namespace headrace::scheduler
