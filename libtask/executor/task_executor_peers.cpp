#include "libtask/executor/task_executor_entries.hpp"
#include "libactors/message/ids_codec.hpp"
#include "libactors/rpc/address_codec.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace headrace::task {

namespace {

constexpr int looks_a_patience = 10; ///< for unused copies

} // namespace

void task_executor_endpoint::write_slots(schema::SlotReport::Builder out) const {
  auto slots = out.initSlots(static_cast<unsigned>(slots_.all().size()));
  for (const auto& slot : slots_.all()) {
    auto to = slots[static_cast<unsigned>(slot.index)];
    to.setIndex(slot.index);
    write(to.initAllocation(), slot.allocation);
    write(to.initJob(), slot.job);
  }
}

void task_executor_endpoint::write_data_address(schema::HostPort::Builder out) const {
  if (around_.network == nullptr)
    return;
  const auto own = around_.network->own_address();
  out.setHost(own.host);
  out.setPort(own.port);
}

void task_executor_endpoint::find_manager() {
  if (has_left_ || is_registered_ || std::exchange(is_registering_, true))
    return;
  run_blocking<result<actors::address>>([leader = settings_.leader] { return leader->find(); },
                                        [this](result<actors::address> found) {
                                          if (!found) {
                                            retry_registration(found.error());
                                            return;
                                          }
                                          manager_ = std::move(*found);
                                          register_at_manager();
                                        });
}

void task_executor_endpoint::register_at_manager() {
  message_builder<schema::RegisterTaskExecutor> request;
  write(request->initId(), settings_.id);
  actors::write(request->initAddress(), self());
  write_slots(request->initSlots());
  request->setMemoryBytes(settings_.memory_bytes);
  write_data_address(request->initData());
  ask<schema::RegistrationReply>(
      manager_, request.finish(), settings_.ask_timeout,
      [this](const result<message<schema::RegistrationReply>>& answer) {
        if (!answer) {
          retry_registration(answer.error());
          return;
        }
        const auto view = answer->view();
        if (!view->isAccepted()) {
          retry_registration(error(errc::registration_refused, view->getRefused().cStr()));
          return;
        }
        is_registering_ = false;
        is_registered_ = true;
        manager_token_ = read_id<fencing_token>(view->getAccepted().getToken());
        manager_heard_us_ = now_us();
        registration_retry_ = settings_.registration_retry_least;
        told_failure_.clear();
        log().info("registered at the resource manager",
                   {{"slots", std::to_string(settings_.slots)}});
        monitor(manager_);
        if (settings_.on_registered)
          settings_.on_registered();
      });
}

void task_executor_endpoint::retry_registration(const error& cause) {
  is_registering_ = false;
  if (cause.code == errc::registration_refused) {
    fatal({errc::registration_refused, "task executor is refused by the resource manager", cause});
    return;
  }
  const auto waited_us = now_us() - unregistered_since_us_;
  if (waited_us > std::chrono::microseconds(settings_.registration_timeout).count()) {
    fatal({errc::registration_refused,
           "task executor could not register at a resource manager in time", cause});
    return;
  }
  if (auto words = to_string(cause); words != told_failure_) { // not each time again
    log().warn("registration failed, it is tried again", {{"cause", words}});
    told_failure_ = std::move(words);
  }
  after(registration_retry_, [this] { find_manager(); });
  registration_retry_ = std::min(registration_retry_ * 2, settings_.registration_retry_most);
}

void task_executor_endpoint::hear_replaced(const std::string& cause, const actors::address& from) {
  if (from.node != manager_.node || from.endpoint != manager_.endpoint)
    return; // of a resource manager before this one
  fatal({errc::registration_refused,
         "task executor is replaced",
         {errc::registration_refused, cause}});
}

void task_executor_endpoint::lose_manager(const std::string& cause, bool is_end) {
  if (!std::exchange(is_registered_, false))
    return;
  if (is_end)
    log().debug("resource manager ended");
  else
    log().warn("resource manager lost", {{"cause", cause}});
  unregistered_since_us_ = now_us();
  unused_copies_.on_manager_lost();
  find_manager();
}

void task_executor_endpoint::take_leave(const std::string& cause) {
  if (std::exchange(has_left_, true))
    return;
  message_builder<schema::Disconnect> farewell;
  write(farewell->initFrom(), settings_.id);
  farewell->setCause(cause);
  const auto words = farewell.finish();
  for (auto& [id, job] : jobs_)
    if (std::exchange(job->is_registered, false))
      tell(job->master, words, job->token);
  if (std::exchange(is_registered_, false))
    tell(manager_, words, manager_token_);
}

void task_executor_endpoint::tell_available(std::int32_t slot) {
  message_builder<schema::SlotAvailable> news;
  write(news->initTaskExecutor(), settings_.id);
  news->initSlot().setIndex(slot);
  if (is_registered_)
    tell(manager_, news.finish(), manager_token_);
}

void task_executor_endpoint::hear_heartbeat(const message<schema::Heartbeat>& beat,
                                            const actors::address& from) {
  const auto view = beat.view();
  const auto job = jobs_.find(read_id<job_id>(view->getFrom()));
  message_builder<schema::Heartbeat> reply;
  write(reply->initFrom(), settings_.id);
  reply->setIsReply(true);
  if (job == jobs_.end()) {
    if (!from.is_none() && from.endpoint != manager_.endpoint)
      return;
    manager_heard_us_ = now_us();
    write_slots(reply->initSlots());
    if (is_registered_ && !view->getIsReply())
      tell(manager_, reply.finish(), manager_token_);
    return;
  }
  job->second->heard_us = now_us();
  if (view->getIsReply() || !job->second->is_registered)
    return;
  if (const auto running = tasks_of_job_.find(job->first); running != tasks_of_job_.end()) {
    auto out = reply->initRunning(static_cast<unsigned>(running->second.size()));
    unsigned i = 0;
    for (const auto& [attempt, task] : running->second)
      write(out[i++], attempt);
  }
  tell(job->second->master, reply.finish(), job->second->token);
}

void task_executor_endpoint::beat() {
  const auto timeout_us = std::chrono::microseconds(settings_.heartbeat_timeout).count();
  if (is_registered_ && now_us() - manager_heard_us_ > timeout_us)
    lose_manager("heartbeat timed out");
  std::vector<job_id> silent;
  for (const auto& [id, job] : jobs_) {
    if (job->is_registered && now_us() - job->heard_us > timeout_us)
      silent.push_back(id);
    else if (job->is_registered)
      report_metrics(*job);
  }
  for (const auto& id : silent)
    lose_job(id, "heartbeat timed out");
  sample_states();
  after(settings_.heartbeat_interval, [this] { beat(); });
}

void task_executor_endpoint::allocate_slot(const message<schema::AllocateSlot>& order,
                                           actors::reply_to<schema::Acknowledge> back) {
  const auto view = order.view();
  const auto job = read_id<job_id>(view->getJob());
  const auto allocation = read_id<allocation_id>(view->getAllocation());
  if (has_left_) {
    back.fail({errc::shut_down, "task executor leaves the cluster"});
    return;
  }
  const auto master = actors::read_address(view->getJobMaster());
  const auto token = read_id<fencing_token>(view->getJobMasterToken());
  if (const auto known = jobs_.find(job);
      known != jobs_.end() && (known->second->master != master || known->second->token != token))
    leave_master(job);
  auto done = slots_.allocate(view->getIndex(), allocation, job);
  if (!done) {
    back.fail(std::move(done).error());
    return;
  }
  back.send(message_builder<schema::Acknowledge>().finish());
  if (!memory_.contains(allocation))
    memory_[allocation] = std::make_shared<slot_memory>(
        settings_.memory_bytes / static_cast<std::uint64_t>(std::max(settings_.slots, 1)));
  unused_copies_.on_came(job);
  auto& entry = jobs_[job];
  if (entry == nullptr || entry->master != master || entry->token != token) {
    auto code = entry == nullptr ? nullptr : entry->code;
    entry = std::make_unique<job_entry>();
    entry->id = job;
    entry->master = master;
    entry->token = token;
    entry->code = std::move(code);
    entry->unregistered_since_us = now_us();
  }
  if (entry->is_registered)
    offer_slots(job);
  else
    register_at_job(job);
}

/// Another job master has the job now. It knows nothing of slots that were given for the one
/// before, and whoever counts slots holds them for its own: they go back.
void task_executor_endpoint::leave_master(job_id job) {
  for (const auto& slot : slots_.of_job(job))
    if (slot.state != slot_state::freeing) {
      lose_job(job, "another job master leads the job");
      return;
    }
}

void task_executor_endpoint::register_at_job(job_id job) {
  const auto at = jobs_.find(job);
  if (at == jobs_.end() || at->second->is_registered ||
      std::exchange(at->second->is_registering, true))
    return;
  message_builder<schema::RegisterAtJobMaster> request;
  write(request->initJob(), job);
  write(request->initId(), settings_.id);
  actors::write(request->initAddress(), self());
  write_data_address(request->initData());
  ask<schema::RegistrationReply>(
      at->second->master, request.finish(), settings_.ask_timeout,
      [this, job,
       token = at->second->token](const result<message<schema::RegistrationReply>>& answer) {
        const auto known = jobs_.find(job);
        if (known == jobs_.end() || known->second->token != token)
          return;
        auto& entry = *known->second;
        entry.is_registering = false;
        const bool is_refused = answer && !answer->view()->isAccepted();
        const auto waited_us = now_us() - entry.unregistered_since_us;
        if (is_refused ||
            (!answer &&
             waited_us > std::chrono::microseconds(settings_.heartbeat_timeout).count())) {
          lose_job(job,
                   is_refused ? answer->view()->getRefused().cStr() : to_string(answer.error()));
          return;
        }
        if (!answer) {
          after(std::chrono::milliseconds(100), [this, job] { register_at_job(job); });
          return;
        }
        entry.is_registered = true;
        entry.heard_us = now_us();
        monitor(entry.master);
        offer_slots(job);
      },
      at->second->token);
}

/// One offer at a time, so that a thousand slots that come one by one need few of them.
void task_executor_endpoint::offer_slots(job_id job) {
  auto& entry = *jobs_.at(job);
  if (entry.is_offering) {
    entry.offers_again = true;
    return;
  }
  std::vector<task_slot> offered;
  for (const auto& slot : slots_.of_job(job))
    if (slot.state == slot_state::allocated)
      offered.push_back(slot);
  if (offered.empty())
    return;
  message_builder<schema::OfferSlots> offer;
  write(offer->initTaskExecutor(), settings_.id);
  auto slots = offer->initSlots(static_cast<unsigned>(offered.size()));
  std::vector<allocation_id> allocations;
  for (std::size_t i = 0; i < offered.size(); ++i) {
    auto to = slots[static_cast<unsigned>(i)];
    to.setIndex(offered[i].index);
    write(to.initAllocation(), offered[i].allocation);
    write(to.initJob(), job);
    allocations.push_back(offered[i].allocation);
  }
  entry.is_offering = true;
  entry.offers_again = false;
  ask<schema::OfferSlotsReply>(
      entry.master, offer.finish(), settings_.ask_timeout,
      [this, job, token = entry.token,
       allocations](const result<message<schema::OfferSlotsReply>>& answer) {
        const auto known = jobs_.find(job);
        if (known != jobs_.end() && known->second->token == token)
          known->second->is_offering = false;
        hear_offer(job, allocations, answer);
      },
      entry.token);
}

void task_executor_endpoint::hear_offer(job_id job, const std::vector<allocation_id>& offered,
                                        const result<message<schema::OfferSlotsReply>>& answer) {
  if (!answer) {
    if (!jobs_.contains(job))
      return; // the job is over
    log().info("slots could not be offered, they are offered again",
               {{"job", to_string(job)}, {"cause", to_string(answer.error())}});
    after(std::chrono::milliseconds(100), [this, job] {
      if (jobs_.contains(job) && jobs_.at(job)->is_registered)
        offer_slots(job);
    });
    return;
  }
  std::set<allocation_id> accepted;
  const auto view = answer->view();
  for (const auto one : view->getAccepted())
    accepted.insert(read_id<allocation_id>(one));
  for (const auto& allocation : offered) {
    if (accepted.contains(allocation))
      slots_.activate(allocation);
    else
      free_slot(allocation, "job master did not want the slot");
  }
  if (const auto known = jobs_.find(job);
      known != jobs_.end() && known->second->is_registered && known->second->offers_again)
    offer_slots(job);
}

void task_executor_endpoint::free_slot(allocation_id allocation, const std::string& cause) {
  const auto* slot = slots_.find(allocation);
  if (slot == nullptr)
    return;
  log().debug("slot is freed", {{"slot", std::to_string(slot->index)}, {"cause", cause}});
  const auto index = slot->index;
  const auto job = slot->job;
  std::vector<execution_attempt_id> tasks;
  if (const auto of_job = tasks_of_job_.find(job); of_job != tasks_of_job_.end())
    for (const auto& [attempt, task] : of_job->second)
      if (task->what.allocation == allocation)
        tasks.push_back(attempt);
  const bool is_free = slots_.free(allocation);
  for (const auto& attempt : tasks)
    cancel(attempt);
  if (!is_free)
    return;
  memory_.erase(allocation);
  tell_available(index);
  forget_job_if_unused(job);
}

void task_executor_endpoint::lose_job(job_id job, const std::string& cause, bool is_end) {
  const auto at = jobs_.find(job);
  if (at == jobs_.end())
    return;
  if (is_end)
    log().debug("job master left", {{"job", to_string(job)}, {"cause", cause}});
  else
    log().warn("job master lost", {{"job", to_string(job)}, {"cause", cause}});
  if (std::exchange(at->second->is_registered, false) && !is_end) {
    // It may live on, and count on slots that are gone.
    message_builder<schema::Disconnect> farewell;
    write(farewell->initFrom(), settings_.id);
    farewell->setCause("task executor has lost the job master: " + cause);
    tell(at->second->master, farewell.finish(), at->second->token);
  }
  for (const auto& slot : slots_.of_job(job))
    free_slot(slot.allocation, (is_end ? "job master left: " : "job master lost: ") + cause);
  forget_job_if_unused(job);
}

void task_executor_endpoint::forget_job_if_unused(job_id job) {
  const auto at = jobs_.find(job);
  if (at == jobs_.end() || tasks_of_job_.contains(job) || !slots_.of_job(job).empty())
    return;
  if (at->second->is_over)
    drop_state(job);
  jobs_.erase(at);
}

void task_executor_endpoint::drop_state(job_id job) {
  drop_local_state(job);
  drop_directory(state_directory() + "/" + to_string(job), "state directories stay");
}

void task_executor_endpoint::drop_local_state(job_id job) {
  if (!settings_.local_state_directory.empty())
    drop_directory(settings_.local_state_directory + "/" + to_string(job),
                   "local copies of state stay");
}

void task_executor_endpoint::drop_directory(std::string path, std::string otherwise) {
  run_blocking<status>(
      [&files = around_.files, path = std::move(path)] { return files.remove_tree(path); },
      [this, otherwise = std::move(otherwise)](const status& removed) {
        if (!removed)
          log().warn(otherwise, {{"cause", to_string(removed.error())}});
      });
}

void task_executor_endpoint::look_for_unused_copies() {
  after(settings_.local_state_patience / looks_a_patience, [this] { look_for_unused_copies(); });
  if (!is_registered_)
    return;
  run_blocking<result<std::vector<file_info>>>(
      [&files = around_.files, path = settings_.local_state_directory] { return files.list(path); },
      [this](const result<std::vector<file_info>>& found) {
        if (found && is_registered_)
          drop_unused_copies(*found);
      });
}

void task_executor_endpoint::drop_unused_copies(const std::vector<file_info>& found) {
  std::set<job_id> there;
  for (const auto& one : found)
    if (const auto job = parse_id<job_tag>(one.path.substr(one.path.rfind('/') + 1)))
      there.insert(*job);
  std::set<job_id> here;
  for (const auto& [job, entry] : jobs_)
    here.insert(job);
  for (const auto& job : unused_copies_.look(there, here, now_us())) {
    log().info("local copies of state are removed: their job has not come for long",
               {{"job", to_string(job)}});
    drop_local_state(job);
  }
}

} // namespace headrace::task
