#include "libscheduler/dispatcher/job_book.hpp"

#include "libactors/message/ids_codec.hpp"

#include <utility>

namespace headrace::scheduler {

status job_book::add(const job_id& job, std::string name, std::int64_t now_ms) {
  if (running_.contains(job) || ended_.contains(job))
    return error(errc::duplicate_job, "job was submitted before: " + to_string(job));
  running_[job] = {std::move(name), now_ms, {}, {}, false};
  return {};
}

bool job_book::started(const job_id& job, actors::address master, fencing_token token) {
  const auto found = running_.find(job);
  if (found == running_.end())
    return false;
  found->second.master = std::move(master);
  found->second.token = token;
  return found->second.is_cancel_wanted;
}

void job_book::master_gone(const job_id& job) {
  if (auto* known = find_running(job)) {
    known->master = {};
    known->token = {};
  }
}

bool job_book::ended(const job_id& job, message<schema::JobEnded> how) {
  if (running_.erase(job) == 0)
    return false;
  remember(job, std::move(how));
  return true;
}

void job_book::remember(const job_id& job, message<schema::JobEnded> how) {
  if (!ended_.insert_or_assign(job, ended_job{std::move(how)}).second)
    return;
  order_.push_back(job);
  while (order_.size() > ended_max_) {
    ended_.erase(order_.front());
    order_.pop_front();
  }
}

bool job_book::master_lost(const job_id& job, const error& cause, std::int64_t now_ms) {
  const running_job* known = find_running(job);
  if (known == nullptr)
    return false;
  const error failure(errc::job_failed, "job master ended: " + to_string(job), cause);
  message_builder<schema::JobEnded> how;
  auto outcome = how->initResult();
  write(outcome.initJob(), job);
  outcome.setState(schema::JobState::FAILED);
  outcome.setRuntimeMs(now_ms - known->submitted_ms);
  write(outcome.initFailure(), failure);
  auto last = how->initStatus();
  write(last.initJob(), job);
  last.setName(known->name);
  last.setState(schema::JobState::FAILED);
  last.setStartedMs(known->submitted_ms);
  last.setEndedMs(now_ms);
  write(last.initFailure(), failure);
  how->initDetails().setStatus(last);
  return ended(job, how.finish());
}

job_book::running_job* job_book::find_running(const job_id& job) {
  const auto found = running_.find(job);
  return found == running_.end() ? nullptr : &found->second;
}

const job_book::ended_job* job_book::find_ended(const job_id& job) const {
  const auto found = ended_.find(job);
  return found == ended_.end() ? nullptr : &found->second;
}

} // namespace headrace::scheduler
