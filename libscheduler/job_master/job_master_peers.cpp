#include "libscheduler/job_master/job_master_endpoint.hpp"
#include "libscheduler/slot/slot_pool_endpoint.hpp"
#include "libactors/message/ids_codec.hpp"
#include "libactors/rpc/address_codec.hpp"

#include <algorithm>
#include <utility>

namespace headrace::scheduler {

void job_master_endpoint::register_at_manager() {
  if (is_over_ || std::exchange(is_registering_, true))
    return;
  message_builder<schema::RegisterJobMaster> request;
  write(request->initJob(), job_->id);
  actors::write(request->initAddress(), self());
  write(request->initToken(), token_);
  ask<schema::RegistrationReply>(
      services_->resource_manager, request.finish(), services_->ask_timeout,
      [this](const result<message<schema::RegistrationReply>>& answer) {
        is_registering_ = false;
        const bool is_accepted = answer && answer->view()->isAccepted();
        if (is_accepted) {
          is_registered_ = true;
          manager_heard_us_ = now_us();
          log().info("registered at the resource manager");
          monitor(services_->resource_manager);
          post(pool_, resource_manager_changed{services_->resource_manager});
          return;
        }
        const error cause =
            answer ? error(errc::registration_refused, answer->view()->getRefused().cStr())
                   : answer.error();
        const auto waited_us = now_us() - unregistered_since_us_;
        if (waited_us > std::chrono::microseconds(services_->registration_timeout).count()) {
          fatal({errc::registration_refused,
                 "job master could not register at a resource manager in time", cause});
          return;
        }
        log().warn("registration failed", {{"cause", to_string(cause)}});
        after(services_->registration_retry, [this] { register_at_manager(); });
      });
}

void job_master_endpoint::lose_manager(const std::string& cause) {
  if (is_over_ || !std::exchange(is_registered_, false))
    return;
  log().warn("resource manager lost", {{"cause", cause}});
  unregistered_since_us_ = now_us();
  post(pool_, resource_manager_changed{});
  register_at_manager();
}

void job_master_endpoint::accept_executor(const message<schema::RegisterAtJobMaster>& request,
                                          actors::reply_to<schema::RegistrationReply> back) {
  const auto view = request.view();
  message_builder<schema::RegistrationReply> reply;
  if (read_id<job_id>(view->getJob()) != job_->id || is_over_) {
    reply->setRefused(is_over_ ? "job is over" : "another job");
    back.send(reply.finish());
    return;
  }
  const auto id = read_id<task_executor_id>(view->getId());
  actors::address location = actors::read_address(view->getAddress());
  // It registers once for all of its slots; who does it again has given up what it had of the job.
  if (executors_.contains(id))
    lose_executor(id, error(errc::task_executor_lost,
                            "task executor registers anew, without its slots: " + to_string(id)));
  log().info("task executor registered",
             {{"task_executor", to_string(id)}, {"address", to_string(location)}});
  monitor(location);
  beats_.add(id, now_us());
  // Ahead of the slots that it offers next.
  post(pool_, executor_joined{id, location}, actors::mail_priority::high);
  executors_[id].location = std::move(location);
  deployment_.data[id] = {view->getData().getHost().cStr(), view->getData().getPort()};
  auto accepted = reply->initAccepted();
  write(accepted.initToken(), token_);
  accepted.setInstance(self().instance);
  back.send(reply.finish());
}

void job_master_endpoint::hear_heartbeat(const message<schema::Heartbeat>& beat,
                                         const actors::address& from) {
  const auto view = beat.view();
  const auto id = read_id<task_executor_id>(view->getFrom());
  if (const auto known = executors_.find(id); known != executors_.end()) {
    if (known->second.location != from)
      return; // of an instance before the registered one
    beats_.on_heard(id, now_us());
    compare_running(id, *view);
    act();
    return;
  }
  if (view->getIsReply())
    return;
  manager_heard_us_ = now_us();
  message_builder<schema::Heartbeat> reply;
  write(reply->initFrom(), job_->id);
  reply->setIsReply(true);
  tell(from.is_none() ? services_->resource_manager : from, reply.finish());
}

void job_master_endpoint::compare_running(const task_executor_id& id,
                                          schema::Heartbeat::Reader beat) {
  if (!beat.hasRunning())
    return;
  executor_entry& entry = executors_[id];
  std::set<execution_attempt_id> running;
  for (const auto attempt : beat.getRunning())
    running.insert(read_attempt(attempt));

  std::vector<execution_attempt_id> lost;
  for (const execution_attempt_id& attempt : submitted_) {
    const auto task = scheduler_->graph().find(attempt);
    if (!task || scheduler_->graph().current(*task).slot.executor != id)
      continue;
    // Once may be a report of its end that is still on its way.
    if (running.contains(attempt))
      entry.missing.erase(attempt);
    else if (++entry.missing[attempt] >= 3)
      lost.push_back(attempt);
  }
  for (const execution_attempt_id& attempt : lost) {
    entry.missing.erase(attempt);
    scheduler_->on_task_missing(attempt, now_ms());
  }
  for (const execution_attempt_id& attempt : running) {
    if (scheduler_->graph().find(attempt))
      continue;
    message_builder<schema::CancelTask> order; // a leftover of an older attempt
    write(order->initAttempt(), attempt);
    tell(entry.location, order.finish());
  }
}

void job_master_endpoint::beat() {
  const auto due = beats_.advance(now_us());
  for (const auto& id : due.lost)
    time_out_executor(id);
  const auto timeout_us = std::chrono::microseconds(services_->heartbeat.timeout).count();
  if (is_registered_ && now_us() - manager_heard_us_ > timeout_us)
    lose_manager("heartbeat timed out");
  message_builder<schema::Heartbeat> builder;
  write(builder->initFrom(), job_->id);
  const auto question = builder.finish();
  for (const auto& id : due.to_send)
    if (const auto known = executors_.find(id); known != executors_.end())
      tell(known->second.location, question);
  if (!is_over_)
    after(services_->heartbeat.interval, [this] { beat(); });
}

void job_master_endpoint::time_out_executor(const task_executor_id& id) {
  const error cause(errc::task_executor_lost,
                    "heartbeat of task executor timed out: " + to_string(id));
  // It may live on, and must not keep slots that nobody counts.
  message_builder<schema::Disconnect> farewell;
  write(farewell->initFrom(), job_->id);
  write(farewell->initJob(), job_->id);
  farewell->setCause(cause.message);
  farewell->setJobGoesOn(true); // so that it keeps its local copies of state
  if (const auto known = executors_.find(id); known != executors_.end())
    tell(known->second.location, farewell.finish());
  lose_executor(id, cause);
}

void job_master_endpoint::on_peer_ended(const actors::address& peer, const error& cause) {
  if (peer.node == services_->resource_manager.node &&
      peer.endpoint == services_->resource_manager.endpoint) {
    lose_manager(to_string(cause));
    return;
  }
  const auto lost = std::find_if(executors_.begin(), executors_.end(),
                                 [&](const auto& entry) { return entry.second.location == peer; });
  if (lost != executors_.end())
    lose_executor(
        task_executor_id(lost->first),
        error(errc::task_executor_lost, "task executor ended: " + to_string(lost->first), cause));
}

void job_master_endpoint::lose_executor(const task_executor_id& id, const error& cause) {
  if (executors_.erase(id) == 0)
    return;
  beats_.remove(id);
  if (is_over_)
    log().debug("task executor left", {{"task_executor", to_string(id)}});
  else
    log().warn("task executor lost",
               {{"task_executor", to_string(id)}, {"cause", to_string(cause)}});
  post(pool_, executor_left{id}, actors::mail_priority::high);
  scheduler_->on_executor_lost(id, cause, now_ms());
  act();
}

} // namespace headrace::scheduler
