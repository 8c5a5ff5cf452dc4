#pragma once

#include "libscheduler/execution_graph/job_mail.hpp"
#include "libscheduler/slot/slot_pool.hpp"
#include "libactors/rpc/endpoint.hpp"
#include "schema/error.capnp.h"
#include "schema/slot.capnp.h"

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace headrace::scheduler {

// What a job master tells its slot pool.
struct resource_manager_changed {
  static constexpr auto kind = job_mail_kind::resource_manager_changed;
  actors::address manager; ///< none: there is none now
};
struct executor_joined {
  static constexpr auto kind = job_mail_kind::executor_joined;
  task_executor_id executor;
  actors::address location;
};
struct executor_left {
  static constexpr auto kind = job_mail_kind::executor_left;
  task_executor_id executor;
};
struct slots_wanted {
  static constexpr auto kind = job_mail_kind::slots_wanted;
  std::vector<std::int32_t> shared_slots;
};
struct slots_released {
  static constexpr auto kind = job_mail_kind::slots_released;
  std::vector<std::int32_t> shared_slots;
  bool is_job_over = false; ///< all slots go back at once
};
// What a slot pool tells its job master.
struct slots_ready {
  static constexpr auto kind = job_mail_kind::slots_ready;
  std::vector<slot_assignment> assigned;
};
struct slots_missing {
  static constexpr auto kind = job_mail_kind::slots_missing;
  std::string waiting_for; ///< empty: for nothing
  error failure;           ///< code none: still waiting
};

/// The slot pool's actor: declares what the job needs at the resource manager, takes the offers of
/// task executors (OfferSlots, NotEnoughSlots; passed on by the job master), gives slots back.
/// A child of the job master.
class slot_pool_endpoint final : public actors::endpoint {
public:
  slot_pool_endpoint(job_id job, actors::address job_master, actors::actor_ref job_master_ref,
                     slot_pool_settings settings, std::chrono::milliseconds ask_timeout);

private:
  void on_mail(actors::mail_ptr content) override;
  void offer(const message<schema::OfferSlots>& offered, actors::reply_to<schema::OfferSlotsReply>);
  /// Assigns what can be, declares what has changed, sets the timer.
  void proceed();
  void declare();
  void give_back(const std::vector<task_slot>& slots, const std::string& cause);
  void set_timer();
  std::int64_t now_ms() const { return now_us() / 1000; }

  job_id job_;
  actors::address job_master_;
  actors::actor_ref job_master_ref_;
  std::chrono::milliseconds ask_timeout_;
  slot_pool pool_;
  actors::address manager_;
  std::map<task_executor_id, actors::address> executors_;
  std::int32_t declared_ = -1; // what the resource manager heard last; -1: nothing
  std::string told_waiting_;
  std::optional<actors::timer_id> timer_;
};

} // namespace headrace::scheduler
