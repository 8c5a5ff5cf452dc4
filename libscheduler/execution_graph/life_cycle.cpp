#include "libscheduler/execution_graph/life_cycle.hpp"

#include <array>
#include <string>

namespace headrace::scheduler {

namespace {

template <class State>
constexpr std::uint32_t bit(State state) {
  return 1U << static_cast<unsigned>(state);
}
template <class... States>
constexpr std::uint32_t any_of(States... states) {
  return (0U | ... | bit(states));
}

// What may follow each state, in the order of the enumeration.
constexpr std::array<std::uint32_t, task_state_count> after_task_state{
    /* created      */ any_of(task_state::scheduled, task_state::canceled, task_state::failed),
    /* scheduled    */
    any_of(task_state::deploying, task_state::canceled, task_state::failed),
    /* deploying    */
    any_of(task_state::initializing, task_state::running, task_state::finished,
           task_state::canceling, task_state::failed),
    /* initializing */
    any_of(task_state::running, task_state::finished, task_state::canceling, task_state::failed),
    /* running      */ any_of(task_state::finished, task_state::canceling, task_state::failed),
    /* finished     */ 0,
    /* canceling    */ any_of(task_state::canceled, task_state::failed),
    /* canceled     */ 0,
    /* failed       */ 0,
};

constexpr std::array<std::uint32_t, 10> after_job_state{
    /* created     */
    any_of(job_state::running, job_state::failing, job_state::cancelling, job_state::suspended),
    /* running     */
    any_of(job_state::failing, job_state::cancelling, job_state::finished, job_state::restarting,
           job_state::suspended),
    /* failing     */ any_of(job_state::failed, job_state::suspended),
    /* failed      */ 0,
    /* cancelling  */ any_of(job_state::canceled, job_state::failing, job_state::suspended),
    /* canceled    */ 0,
    /* finished    */ 0,
    /* restarting  */
    any_of(job_state::running, job_state::failing, job_state::cancelling, job_state::suspended),
    /* suspended   */ any_of(job_state::reconciling),
    /* reconciling */
    any_of(job_state::running, job_state::restarting, job_state::failing, job_state::cancelling,
           job_state::suspended),
};

constexpr std::array<std::string_view, task_state_count> task_state_names{
    "created",  "scheduled", "deploying", "initializing", "running",
    "finished", "canceling", "canceled",  "failed"};
constexpr std::array<std::string_view, 10> job_state_names{
    "created",  "running",  "failing",    "failed",    "cancelling",
    "canceled", "finished", "restarting", "suspended", "reconciling"};

error illegal(std::string_view what, std::string_view from, std::string_view to) {
  return {errc::illegal_transition, std::string(what) + " cannot change from " + std::string(from) +
                                        " to " + std::string(to)};
}

} // namespace

std::string_view name_of(task_state state) {
  return task_state_names.at(static_cast<std::size_t>(state));
}

std::string_view name_of(job_state state) {
  return job_state_names.at(static_cast<std::size_t>(state));
}

bool is_terminal(task_state state) {
  return state == task_state::finished || state == task_state::canceled ||
         state == task_state::failed;
}

bool is_terminal(job_state state) {
  return state == job_state::finished || state == job_state::canceled || state == job_state::failed;
}

bool is_deployed(task_state state) {
  return state == task_state::deploying || state == task_state::initializing ||
         state == task_state::running || state == task_state::canceling;
}

status check_transition(task_state from, task_state to) {
  if ((after_task_state.at(static_cast<std::size_t>(from)) & bit(to)) == 0U)
    return illegal("task", name_of(from), name_of(to));
  return {};
}

status check_transition(job_state from, job_state to) {
  if ((after_job_state.at(static_cast<std::size_t>(from)) & bit(to)) == 0U)
    return illegal("job", name_of(from), name_of(to));
  return {};
}

} // namespace headrace::scheduler
