#pragma once

#include "libtask/executor/data_connection_endpoint.hpp"
#include "libtask/executor/data_network.hpp"
#include "libtask/executor/slot_table.hpp"
#include "libtask/executor/unused_copies.hpp"
#include "libtask/network/exchange_directory.hpp"
#include "libtask/task/memory_arbiter.hpp"
#include "libtask/task/subtask.hpp"
#include "libstate/backend/keyed_backend.hpp"
#include "libstate/checkpoint/snapshot_segments.hpp"
#include "libgraph/connector/registry.hpp"
#include "libgraph/function/function.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/leader/leader_retrieval.hpp"
#include "libactors/rpc/endpoint.hpp"
#include "schema/artifact.capnp.h"
#include "schema/checkpoint.capnp.h"
#include "schema/registration.capnp.h"
#include "schema/slot.capnp.h"
#include "schema/task.capnp.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace headrace::task {

struct task_executor_settings {
  task_executor_id id;
  std::int32_t slots = 1;
  std::uint64_t memory_bytes = 0; ///< of all slots together; 0: no limit
  std::string cache_directory;    ///< for artifacts
  /// For state backends with local files, below it: one a task executor.
  std::string state_directory;
  /// For local copies of snapshots, of this task executor alone; empty: none are kept.
  std::string local_state_directory;
  /// A file into which the tasks' parts of a checkpoint are written is full with so many; 0: each
  /// task writes one of its own.
  std::uint64_t segment_bytes = std::uint64_t{32} << 20U;
  std::uint64_t state_memory_bytes = 0;             ///< of such backends together; 0: a default
  std::int32_t state_read_threads = 0;              ///< of such backends together
  std::shared_ptr<actors::leader_retrieval> leader; ///< finds the resource manager
  /// Called in the executor's turn each time that it has registered; may be empty.
  std::function<void()> on_registered;
  std::chrono::milliseconds heartbeat_interval{1'000};
  std::chrono::milliseconds heartbeat_timeout{10'000};
  std::chrono::milliseconds ask_timeout{10'000};
  std::chrono::milliseconds registration_retry_least{20};
  std::chrono::milliseconds registration_retry_most{1'000};
  /// Without a resource manager for so long, the process ends.
  std::chrono::milliseconds registration_timeout{300'000};
  /// A task that does not end so long after it was canceled ends the process; 0: never.
  std::chrono::milliseconds cancellation_timeout{180'000};
  /// Local copies of a job that is not here go after so long, when nobody has said that it is over:
  /// it may come back to them. A job without slots fails, and starts again, in 300 s.
  std::chrono::milliseconds local_state_patience{600'000};
  std::uint64_t artifact_bytes_max = std::uint64_t{2} << 30U;
  wire_options wire; ///< how batches go to other processes
  std::chrono::milliseconds connection_idle_timeout{30'000};
};

/// What the task executors of a process share. Lives longer than they do.
struct task_executor_environment {
  headrace::file_system& files;
  const graph::connector_registry& connectors;
  const operator_factories& factories;
  exchange_directory& directory;
  graph::job_code_loader* loader = nullptr; ///< null: jobs bring no code
  data_network* network = nullptr;          ///< null: all tasks of a job run in this process
};

/// Runs tasks in its slots. Registers at the resource manager, gives slots to jobs as told, offers
/// them to their job masters, starts a subtask for each task submitted, and passes words between
/// subtasks and job masters. The tasks of a job master that is lost are canceled.
///
///     resource manager ── AllocateSlot ─▶ ┌──────────────┐ ── spawn ─▶ subtask
///     job master ◀── OfferSlots ───────── │ task executor│
///     job master ── SubmitTask ─────────▶ └──────────────┘ ◀─ reports ─ subtask
///
/// An actor with a thread of its own; everything is touched in its turns.
class task_executor_endpoint final : public actors::endpoint {
public:
  task_executor_endpoint(task_executor_settings settings, task_executor_environment around);
  ~task_executor_endpoint() override;

private:
  struct job_entry;
  struct task_entry;
  /// The data connection to another node.
  struct connection_entry {
    std::string name;
    actors::actor_ref ref;
    std::uint64_t orders_sent = 0;
  };

  void on_start() override;
  void on_mail(actors::mail_ptr content) override;
  void on_child_ended(const std::string& name, const error& cause) override;
  void on_peer_ended(const actors::address& peer, const error& cause) override;
  void on_stop(const error& cause) override;
  void hear_end(const std::string& child, const error& cause);
  void answer_messages();

  // --- resource manager (task_executor_peers.cpp)
  void find_manager();
  void register_at_manager();
  void lose_manager(const std::string& cause, bool is_end = false);
  /// Another process has registered under the own id: this one is to end.
  void hear_replaced(const std::string& cause, const actors::address& from);
  void retry_registration(const error& cause);
  void take_leave(const std::string& cause);
  void write_slots(schema::SlotReport::Builder out) const;
  void write_data_address(schema::HostPort::Builder out) const;
  void tell_available(std::int32_t slot);

  // --- job masters
  void hear_heartbeat(const message<schema::Heartbeat>& beat, const actors::address& from);
  void beat();
  void report_metrics(const job_entry& job);
  void allocate_slot(const message<schema::AllocateSlot>& order,
                     actors::reply_to<schema::Acknowledge> back);
  void free_slot(allocation_id allocation, const std::string& cause);
  void register_at_job(job_id job);
  void leave_master(job_id job);
  void offer_slots(job_id job);
  void hear_offer(job_id job, const std::vector<allocation_id>& offered,
                  const result<message<schema::OfferSlotsReply>>& answer);
  void lose_job(job_id job, const std::string& cause, bool is_end = false);
  void forget_job_if_unused(job_id job);
  /// Removes what is left here of the state of a job that is over.
  void drop_state(job_id job);
  /// Removes the local copies of a job's state.
  void drop_local_state(job_id job);
  /// @param otherwise  words for when it cannot be removed
  void drop_directory(std::string path, std::string otherwise);
  /// Of this task executor alone; each job has its own below.
  std::string state_directory() const {
    return settings_.state_directory + "/" + to_string(settings_.id);
  }
  /// The same, from time to time, of jobs that do not come any more.
  void look_for_unused_copies();
  void drop_unused_copies(const std::vector<file_info>& found);

  // --- tasks (task_executor_tasks.cpp)
  void submit(const message<schema::SubmitTask>& request,
              actors::reply_to<schema::Acknowledge> back);
  void start(const execution_attempt_id& attempt, std::shared_ptr<const graph::job_code> code);
  void cancel(const execution_attempt_id& attempt);
  void watch_cancellation(const execution_attempt_id& attempt);
  void take(task_report& report);
  void tell_state(task_entry& task, task_state now, const error& failure);
  void decline(const actors::address& to, fencing_token token, const execution_attempt_id& attempt,
               checkpoint_id checkpoint, error reason);
  /// Reads the figures of what keeps the tasks' states, for the reports that follow.
  void sample_states();
  void end_task(const execution_attempt_id& attempt);
  void control(const execution_attempt_id& attempt, task_control::content_type what);
  task_entry* find(const execution_attempt_id& attempt);

  // --- exchanges (task_executor_exchange.cpp)
  /// One channel on its way to its producer.
  struct channel_wish {
    execution_attempt_id consumer;
    std::uint32_t channel = 0; ///< index over all gates
    std::uint64_t credit_bytes = 0;
    int tries = 0;
  };
  /// The channels of a task, one after the other.
  struct channel_run {
    channel_wish next;
    std::uint32_t count = 0;
  };
  void connect_all(const execution_attempt_id& consumer, std::uint64_t credit_bytes);
  /// Some of them a turn, so that heartbeats do not wait for a wide job's millions.
  void connect_some();
  void connect(const channel_wish& wish);
  void connect_again(const channel_wish& wish, const error& cause);
  void ask_elsewhere(const channel_wish& wish, const actors::address& whom);
  status attach_here(const channel_wish& wish, const channel_description& wanted);
  status attach(const message<schema::RequestPartition>& request);
  void connect_remote(const channel_wish& wish, const producer_place& where);
  void take_links();
  void take(connection_report& report);
  void order(const node_id& peer, connection_order::content_type what);
  bool lose_connection(const std::string& child, const error& cause);

  // --- job code (task_executor_artifacts.cpp)
  using code_taker = std::function<void(result<std::shared_ptr<const graph::job_code>>)>;
  void load_code(const task_description& task, code_taker then);
  /// The libraries of users' functions that the task calls.
  void load_libraries(const task_description& task, std::function<void(status)> then);
  void load_library(const graph::artifact& which, const actors::address& from,
                    std::function<void(status)> then);
  void fetch(const graph::artifact& wanted, const actors::address& from,
             std::function<void(status)> then);
  void fetch_part(const graph::artifact& wanted, const actors::address& from,
                  std::shared_ptr<byte_string> so_far);
  void store(const graph::artifact& wanted, std::shared_ptr<byte_string> content);
  void fetched(const artifact_digest& which, status outcome);
  std::string cached_path(const artifact_digest& which) const;

  task_executor_settings settings_;
  task_executor_environment around_;
  std::shared_ptr<headrace::state::snapshot_segments> segments_;
  slot_table slots_;
  std::map<allocation_id, std::shared_ptr<slot_memory>> memory_;
  std::map<job_id, std::unique_ptr<job_entry>> jobs_;
  unused_copies unused_copies_;
  std::unordered_map<execution_attempt_id, std::unique_ptr<task_entry>> tasks_;
  std::unordered_map<job_id, std::map<execution_attempt_id, task_entry*>> tasks_of_job_;
  std::unordered_map<std::string, execution_attempt_id> attempt_by_child_;
  std::map<std::string, std::shared_ptr<headrace::state::state_backend>> backends_;
  std::map<artifact_digest, std::vector<std::function<void(status)>>> fetching_;
  std::deque<channel_run> connecting_;
  std::map<node_id, connection_entry> connections_;
  std::uint64_t connections_made_ = 0;
  std::shared_ptr<data_connection_metrics> connection_metrics_ =
      std::make_shared<data_connection_metrics>();
  bool is_sampling_ = false;
  bool is_registered_ = false;
  bool is_registering_ = false;
  bool has_left_ = false;
  actors::address manager_; // as found last
  fencing_token manager_token_;
  std::int64_t manager_heard_us_ = 0;
  std::int64_t unregistered_since_us_ = 0;
  std::chrono::milliseconds registration_retry_{0};
  std::string told_failure_; // why the last registration failed
};

/// Whether any operator or edge of the vertex calls a function of the job's code.
bool needs_code(const graph::job_vertex& vertex);

} // namespace headrace::task
