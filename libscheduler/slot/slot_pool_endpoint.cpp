#include "libscheduler/slot/slot_pool_endpoint.hpp"

#include "libactors/message/ids_codec.hpp"
#include "libactors/rpc/address_codec.hpp"

#include <algorithm>
#include <utility>

namespace headrace::scheduler {

slot_pool_endpoint::slot_pool_endpoint(job_id job, actors::address job_master,
                                       actors::actor_ref job_master_ref,
                                       slot_pool_settings settings,
                                       std::chrono::milliseconds ask_timeout)
    : job_(job), job_master_(std::move(job_master)), job_master_ref_(std::move(job_master_ref)),
      ask_timeout_(ask_timeout), pool_(settings) {
  on_ask<schema::OfferSlots, schema::OfferSlotsReply>(
      [this](const message<schema::OfferSlots>& offered,
             actors::reply_to<schema::OfferSlotsReply> back) { offer(offered, std::move(back)); });
  on_tell<schema::NotEnoughSlots>(
      [this](const message<schema::NotEnoughSlots>& shortage, const actors::address&) {
        pool_.note_available(shortage.view()->getAvailable());
      });
}

void slot_pool_endpoint::on_mail(actors::mail_ptr content) {
  actors::mail& received = *content;
  open_mail<resource_manager_changed>(received, [this](resource_manager_changed what) {
    manager_ = std::move(what.manager);
    declared_ = -1;
  });
  open_mail<executor_joined>(received, [this](executor_joined what) {
    executors_[what.executor] = std::move(what.location);
  });
  open_mail<executor_left>(received, [this](const executor_left& what) {
    executors_.erase(what.executor);
    pool_.lose(what.executor);
  });
  open_mail<slots_wanted>(
      received, [this](const slots_wanted& what) { pool_.want(what.shared_slots, now_ms()); });
  open_mail<slots_released>(received, [this](const slots_released& what) {
    pool_.release(what.shared_slots, now_ms());
    if (what.is_job_over)
      give_back(pool_.take_all(), "job is over");
  });
  proceed();
}

void slot_pool_endpoint::offer(const message<schema::OfferSlots>& offered,
                               actors::reply_to<schema::OfferSlotsReply> back) {
  const auto view = offered.view();
  const auto executor = read_id<task_executor_id>(view->getTaskExecutor());
  const auto location = executors_.find(executor);
  if (location == executors_.end()) {
    back.fail({errc::registration_refused,
               "slots offered before registration: task executor " + to_string(executor)});
    return;
  }
  std::vector<task_slot> slots;
  for (const auto slot : view->getSlots())
    slots.push_back({read_id<allocation_id>(slot.getAllocation()), executor, location->second});
  const auto taken = pool_.offer(slots, now_ms());
  message_builder<schema::OfferSlotsReply> reply;
  auto accepted = reply->initAccepted(static_cast<unsigned>(taken.size()));
  for (std::size_t i = 0; i < taken.size(); ++i)
    write(accepted[static_cast<unsigned>(i)], taken[i]);
  back.send(reply.finish());
  log().debug("slots offered", {{"task_executor", to_string(executor)},
                                {"offered", std::to_string(slots.size())},
                                {"taken", std::to_string(taken.size())}});
  proceed();
}

void slot_pool_endpoint::proceed() {
  if (auto late = pool_.expire(now_ms()))
    post(job_master_ref_, slots_missing{{}, std::move(*late)});
  if (auto assigned = pool_.assign(); !assigned.empty())
    post(job_master_ref_, slots_ready{std::move(assigned)});
  if (auto idle = pool_.take_idle(now_ms()); !idle.empty())
    give_back(idle, "slot is idle");
  declare();
  if (auto waiting = pool_.waiting_for(); waiting != told_waiting_) {
    told_waiting_ = waiting;
    post(job_master_ref_, slots_missing{std::move(waiting), {}});
  }
  set_timer();
}

void slot_pool_endpoint::declare() {
  const std::int32_t required = pool_.required();
  if (manager_.is_none() || required == declared_)
    return;
  declared_ = required;
  message_builder<schema::DeclareResources> declaration;
  write(declaration->initJob(), job_);
  write(declaration->initJobMaster(), job_master_);
  declaration->setSlots(required);
  tell(manager_, declaration.finish());
  log().info("declared slots", {{"required", std::to_string(required)}});
}

void slot_pool_endpoint::give_back(const std::vector<task_slot>& slots, const std::string& cause) {
  for (const task_slot& slot : slots) {
    message_builder<schema::FreeSlot> request;
    write(request->initAllocation(), slot.allocation);
    request->setCause(cause);
    ask<schema::Acknowledge>(
        slot.location, request.finish(), ask_timeout_,
        [this, allocation = slot.allocation](const result<message<schema::Acknowledge>>& answer) {
          if (!answer) // its task executor is gone, or sees by itself that the job has ended
            log().warn("slot not given back", {{"allocation", to_string(allocation)},
                                               {"cause", to_string(answer.error())}});
        });
  }
}

void slot_pool_endpoint::set_timer() {
  if (timer_)
    cancel_timer(*timer_);
  timer_.reset();
  if (const auto deadline = pool_.next_deadline_ms()) {
    const auto wait = std::max<std::int64_t>(*deadline - now_ms(), 1);
    timer_ = after(std::chrono::milliseconds(wait), [this] {
      timer_.reset();
      proceed();
    });
  }
}

} // namespace headrace::scheduler
