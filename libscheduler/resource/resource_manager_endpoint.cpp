#include "libscheduler/resource/resource_manager_endpoint.hpp"

#include "libactors/message/ids_codec.hpp"
#include "libactors/rpc/address_codec.hpp"

#include <utility>

namespace headrace::scheduler {

std::vector<reported_slot> read_slot_report(schema::SlotReport::Reader in) {
  std::vector<reported_slot> slots;
  for (const auto slot : in.getSlots())
    slots.push_back({slot.getIndex(), read_id<allocation_id>(slot.getAllocation()),
                     read_id<job_id>(slot.getJob())});
  return slots;
}

namespace {

std::string replaced_words(const task_executor_id& id, const actors::address& newer) {
  return "another task manager has registered later under the same taskmanager.resource-id, give "
         "each its own: task executor " +
         to_string(id) + ", replaced by " + to_string(newer);
}

} // namespace

resource_manager_endpoint::resource_manager_endpoint(resource_manager_settings settings,
                                                     std::unique_ptr<worker_launcher> launcher)
    : settings_(settings), launcher_(std::move(launcher)), executor_beats_(settings.heartbeat),
      job_beats_(settings.heartbeat) {
  on_ask<schema::RegisterTaskExecutor, schema::RegistrationReply>(
      [this](const auto& request, auto back) { register_executor(request, std::move(back)); });
  on_ask<schema::RegisterJobMaster, schema::RegistrationReply>(
      [this](const auto& request, auto back) { register_job(request, std::move(back)); });
  on_ask<schema::ListTaskExecutors, schema::TaskExecutorList>(
      [this](const auto&, auto back) { answer_executors(std::move(back)); });
  on_tell<schema::DeclareResources>(
      [this](const auto& declaration, const actors::address&) { declare(declaration); });
  on_tell<schema::SlotAvailable>(
      [this](const auto& available, const actors::address& from) { hear_slot(available, from); });
  on_tell<schema::Heartbeat>(
      [this](const auto& beat, const actors::address& from) { hear_heartbeat(beat, from); });
  on_tell<schema::Disconnect>([this](const auto& farewell, const actors::address& from) {
    hear_disconnect(farewell, from);
  });
}

void resource_manager_endpoint::on_start() {
  slots_.emplace(environment().random);
  if (launcher_ == nullptr)
    launcher_ = std::make_unique<standalone_launcher>();
  after(settings_.heartbeat.interval, [this] { beat(); });
}

void resource_manager_endpoint::accept(actors::reply_to<schema::RegistrationReply>& back) {
  message_builder<schema::RegistrationReply> reply;
  auto accepted = reply->initAccepted();
  write(accepted.initToken(), current_fencing_token());
  accepted.setInstance(self().instance);
  back.send(reply.finish());
}

void resource_manager_endpoint::register_executor(
    const message<schema::RegisterTaskExecutor>& request,
    actors::reply_to<schema::RegistrationReply> back) {
  const auto view = request.view();
  const auto id = read_id<task_executor_id>(view->getId());
  actors::address location = actors::read_address(view->getAddress());
  const auto slots = read_slot_report(view->getSlots());
  if (const auto known = executors_.find(id);
      known != executors_.end() && known->second.location != location) {
    const actors::address& other = known->second.location;
    if (instances_.is_before(location, other)) {
      log().warn("task executor refused: another has registered later under its id",
                 {{"task_executor", to_string(id)},
                  {"address", to_string(location)},
                  {"registered", to_string(other)},
                  {"option", "taskmanager.resource-id"}});
      message_builder<schema::RegistrationReply> reply;
      reply->setRefused(replaced_words(id, other));
      back.send(reply.finish());
      return;
    }
    log().warn("task executor replaced: another registers under its id",
               {{"task_executor", to_string(id)},
                {"address", to_string(other)},
                {"registers", to_string(location)},
                {"option", "taskmanager.resource-id"}});
    tell_replaced(id, other, location);
  }
  instances_.note(location);
  log().info("task executor registered", {{"task_executor", to_string(id)},
                                          {"address", to_string(location)},
                                          {"slots", std::to_string(slots.size())}});
  monitor(location);
  executors_[id] = {std::move(location), view->getMemoryBytes()};
  executor_beats_.add(id, now_us());
  slots_->add_executor(id, slots);
  accept(back);
  match();
}

void resource_manager_endpoint::register_job(const message<schema::RegisterJobMaster>& request,
                                             actors::reply_to<schema::RegistrationReply> back) {
  const auto view = request.view();
  const auto job = read_id<job_id>(view->getJob());
  actors::address master = actors::read_address(view->getAddress());
  log().info("job master registered", {{"job", to_string(job)}, {"address", to_string(master)}});
  monitor(master);
  jobs_[job] = {std::move(master), read_id<fencing_token>(view->getToken())};
  job_beats_.add(job, now_us());
  accept(back);
}

void resource_manager_endpoint::declare(const message<schema::DeclareResources>& declaration) {
  const auto view = declaration.view();
  const auto job = read_id<job_id>(view->getJob());
  const auto known = jobs_.find(job);
  if (known == jobs_.end() || known->second.master != actors::read_address(view->getJobMaster())) {
    if (view->getSlots() > 0) // a job that has left needs none
      log().warn("slots declared by an unknown job master", {{"job", to_string(job)}});
    return;
  }
  slots_->declare(job, view->getSlots());
  match();
}

void resource_manager_endpoint::hear_slot(const message<schema::SlotAvailable>& available,
                                          const actors::address& from) {
  const auto view = available.view();
  const auto executor = read_id<task_executor_id>(view->getTaskExecutor());
  if (!is_registered(executor, from))
    return;
  slots_->slot_freed(executor, view->getSlot().getIndex());
  match();
}

bool resource_manager_endpoint::is_registered(const task_executor_id& id,
                                              const actors::address& from) {
  const auto known = executors_.find(id);
  if (known == executors_.end())
    return false;
  if (known->second.location == from)
    return true;
  if (instances_.is_before(from, known->second.location))
    tell_replaced(id, from, known->second.location);
  return false;
}

void resource_manager_endpoint::tell_replaced(const task_executor_id& id,
                                              const actors::address& older,
                                              const actors::address& newer) {
  message_builder<schema::Disconnect> news;
  write(news->initFrom(), id); // its registration is what ends
  news->setCause(replaced_words(id, newer));
  tell(older, news.finish());
}

void resource_manager_endpoint::hear_heartbeat(const message<schema::Heartbeat>& beat,
                                               const actors::address& from) {
  const auto view = beat.view();
  const auto executor = read_id<task_executor_id>(view->getFrom());
  const auto job = read_id<job_id>(view->getFrom());
  if (is_registered(executor, from)) {
    executor_beats_.on_heard(executor, now_us());
    if (view->hasSlots())
      slots_->update_executor(executor, read_slot_report(view->getSlots()));
    if (!view->getIsReply())
      tell(from, message_builder<schema::Heartbeat>().finish());
    match();
  } else if (const auto known = jobs_.find(job);
             known != jobs_.end() && known->second.master == from) {
    job_beats_.on_heard(job, now_us());
  }
}

void resource_manager_endpoint::hear_disconnect(const message<schema::Disconnect>& farewell,
                                                const actors::address& from) {
  const auto view = farewell.view();
  const std::string cause = view->getCause().cStr();
  const auto executor = read_id<task_executor_id>(view->getFrom());
  const auto job = read_id<job_id>(view->getFrom());
  if (const auto known = jobs_.find(job); known != jobs_.end() && known->second.master == from) {
    if (!view->getJobGoesOn())
      tell_over(farewell);
    lose_job(job, cause);
  } else if (is_registered(executor, from))
    lose_executor(executor, cause, true);
}

/// A task executor that was away for a while may have local copies of the job's state, and the job
/// master knows nothing of it.
void resource_manager_endpoint::tell_over(const message<schema::Disconnect>& farewell) {
  for (const auto& [id, entry] : executors_)
    tell(entry.location, farewell);
}

void resource_manager_endpoint::answer_executors(actors::reply_to<schema::TaskExecutorList> back) {
  message_builder<schema::TaskExecutorList> reply;
  auto list = reply->initExecutors(static_cast<unsigned>(executors_.size()));
  unsigned at = 0;
  for (const auto& [id, entry] : executors_) {
    auto out = list[at++];
    write(out.initId(), id);
    actors::write(out.initAddress(), entry.location);
    const auto slots = slots_->slots_of(id);
    auto reported = out.initSlots().initSlots(static_cast<unsigned>(slots.size()));
    for (unsigned i = 0; i < reported.size(); ++i) {
      reported[i].setIndex(slots[i].index);
      write(reported[i].initAllocation(), slots[i].allocation);
      write(reported[i].initJob(), slots[i].job);
    }
    out.setMemoryBytes(entry.memory_bytes);
    const auto heard_us = executor_beats_.heard_us(id).value_or(now_us());
    out.setHeardMs(environment().time.wall_ms() - (now_us() - heard_us) / 1000);
  }
  back.send(reply.finish());
}

void resource_manager_endpoint::beat() {
  const auto due_executors = executor_beats_.advance(now_us());
  const auto due_jobs = job_beats_.advance(now_us());
  for (const auto& executor : due_executors.lost)
    lose_executor(executor, "heartbeat timed out");
  for (const auto& job : due_jobs.lost)
    lose_job(job, "heartbeat timed out");
  message_builder<schema::Heartbeat> builder;
  const auto question = builder.finish();
  for (const auto& id : due_executors.to_send)
    if (const auto known = executors_.find(id); known != executors_.end())
      tell(known->second.location, question);
  for (const auto& id : due_jobs.to_send)
    if (const auto known = jobs_.find(id); known != jobs_.end())
      tell(known->second.master, question, known->second.token);
  after(settings_.heartbeat.interval, [this] { beat(); });
}

void resource_manager_endpoint::on_peer_ended(const actors::address& peer, const error& cause) {
  for (const auto& [id, entry] : executors_) {
    if (entry.location == peer) {
      lose_executor(task_executor_id(id), to_string(cause), cause.code == errc::none);
      return;
    }
  }
  for (const auto& [id, entry] : jobs_) {
    if (entry.master == peer) {
      lose_job(job_id(id), to_string(cause));
      return;
    }
  }
}

void resource_manager_endpoint::lose_executor(const task_executor_id& executor,
                                              const std::string& cause, bool is_end) {
  if (executors_.erase(executor) == 0)
    return;
  if (is_end)
    log().info("task executor left", {{"task_executor", to_string(executor)}, {"cause", cause}});
  else
    log().warn("task executor lost", {{"task_executor", to_string(executor)}, {"cause", cause}});
  executor_beats_.remove(executor);
  slots_->remove_executor(executor);
  match();
}

void resource_manager_endpoint::lose_job(const job_id& job, const std::string& cause) {
  if (jobs_.erase(job) == 0)
    return;
  log().info("job master left", {{"job", to_string(job)}, {"cause", cause}});
  job_beats_.remove(job);
  slots_->remove_job(job);
  match();
}

void resource_manager_endpoint::match() {
  // One decision for all that arrives together.
  if (std::exchange(is_match_due_, true))
    return;
  later([this] {
    is_match_due_ = false;
    const slot_decisions made = slots_->decide();
    for (const slot_grant& what : made.grants)
      grant(what);
    for (const slot_shortage& shortage : made.shortages) {
      const auto job = jobs_.find(shortage.job);
      if (job == jobs_.end())
        continue;
      log().warn("not enough slots", {{"job", to_string(shortage.job)},
                                      {"required", std::to_string(shortage.required)},
                                      {"available", std::to_string(shortage.available)}});
      message_builder<schema::NotEnoughSlots> news;
      write(news->initJob(), shortage.job);
      news->setRequired(shortage.required);
      news->setAvailable(shortage.available);
      tell(job->second.master, news.finish(), job->second.token);
    }
    launcher_->want_slots(made.missing);
  });
}

void resource_manager_endpoint::grant(const slot_grant& what) {
  const auto job = jobs_.find(what.job);
  const auto executor = executors_.find(what.executor);
  if (job == jobs_.end() || executor == executors_.end()) {
    slots_->slot_freed(what.executor, what.index);
    return;
  }
  message_builder<schema::AllocateSlot> request;
  request->setIndex(what.index);
  write(request->initAllocation(), what.allocation);
  write(request->initJob(), what.job);
  actors::write(request->initJobMaster(), job->second.master);
  write(request->initJobMasterToken(), job->second.token);
  ask<schema::Acknowledge>(
      executor->second.location, request.finish(), settings_.ask_timeout,
      [this, what](const result<message<schema::Acknowledge>>& answer) {
        slots_->grant_answered(what.executor, what.allocation, answer.has_value());
        if (!answer) {
          log().warn("slot not granted", {{"task_executor", to_string(what.executor)},
                                          {"slot", std::to_string(what.index)},
                                          {"cause", to_string(answer.error())}});
          match();
        }
      });
}

} // namespace headrace::scheduler
