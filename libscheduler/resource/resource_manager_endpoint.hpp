#pragma once

#include "libscheduler/resource/executor_instances.hpp"
#include "libscheduler/resource/slot_manager.hpp"
#include "libscheduler/resource/worker_launcher.hpp"
#include "libactors/heartbeat/heartbeat_monitor.hpp"
#include "libactors/rpc/endpoint.hpp"
#include "schema/error.capnp.h"
#include "schema/registration.capnp.h"
#include "schema/slot.capnp.h"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace headrace::scheduler {

struct resource_manager_settings {
  actors::heartbeat_options heartbeat;
  std::chrono::milliseconds ask_timeout{10'000};
};

/// Knows the cluster's task executors and the jobs that run on them: registers both, beats hearts
/// with both, and gives free slots to job masters as they declare. One a cluster. Of task executors
/// under one id the newest instance counts; an older one is told that it is replaced, for good.
class resource_manager_endpoint final : public actors::endpoint {
public:
  /// `launcher` may be null: standalone.
  resource_manager_endpoint(resource_manager_settings settings,
                            std::unique_ptr<worker_launcher> launcher);

private:
  struct executor_entry {
    actors::address location;
    std::uint64_t memory_bytes = 0;
  };
  struct job_entry {
    actors::address master;
    fencing_token token;
  };

  void on_start() override;
  void on_peer_ended(const actors::address& peer, const error& cause) override;

  void register_executor(const message<schema::RegisterTaskExecutor>& request,
                         actors::reply_to<schema::RegistrationReply> back);
  void register_job(const message<schema::RegisterJobMaster>& request,
                    actors::reply_to<schema::RegistrationReply> back);
  void declare(const message<schema::DeclareResources>& declaration);
  void hear_slot(const message<schema::SlotAvailable>& available, const actors::address& from);
  void hear_heartbeat(const message<schema::Heartbeat>& beat, const actors::address& from);
  void hear_disconnect(const message<schema::Disconnect>& farewell, const actors::address& from);
  void tell_over(const message<schema::Disconnect>& farewell);
  /// Whether `from` is the registered instance. One that was replaced is told so.
  bool is_registered(const task_executor_id& id, const actors::address& from);
  void tell_replaced(const task_executor_id& id, const actors::address& older,
                     const actors::address& newer);
  void answer_executors(actors::reply_to<schema::TaskExecutorList> back);
  void beat();

  void lose_executor(const task_executor_id& executor, const std::string& cause,
                     bool is_end = false);
  void lose_job(const job_id& job, const std::string& cause);
  /// Decides, then grants slots and tells of shortages.
  void match();
  void grant(const slot_grant& what);
  void accept(actors::reply_to<schema::RegistrationReply>& back);

  resource_manager_settings settings_;
  std::unique_ptr<worker_launcher> launcher_;
  std::optional<slot_manager> slots_;
  std::map<task_executor_id, executor_entry> executors_;
  executor_instances instances_;
  std::map<job_id, job_entry> jobs_;
  actors::heartbeat_monitor<task_executor_id> executor_beats_;
  actors::heartbeat_monitor<job_id> job_beats_;
  bool is_match_due_ = false;
};

/// Reads the slots of a report.
std::vector<reported_slot> read_slot_report(schema::SlotReport::Reader in);

} // namespace headrace::scheduler
