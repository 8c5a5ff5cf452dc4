#pragma once

#include "libtask/checkpoint/snapshot_writer.hpp"
#include "libtask/network/exchange_directory.hpp"
#include "libtask/task/chain_services.hpp"
#include "libtask/task/memory_arbiter.hpp"
#include "libtask/task/stream_task.hpp"
#include "libtask/task/task_description.hpp"
#include "libtask/task/task_mail.hpp"
#include "libstate/backend/keyed_backend.hpp"
#include "libstate/checkpoint/local_copies.hpp"
#include "libgraph/connector/registry.hpp"
#include "libgraph/function/function.hpp"
#include "libactors/rpc/endpoint.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace headrace::task {

/// What all subtasks of a task executor share. Lives longer than they do.
struct subtask_environment {
  headrace::file_system& files;
  /// Where the parts of checkpoints are written.
  std::shared_ptr<headrace::state::snapshot_segments> segments;
  const graph::connector_registry& connectors;
  const operator_factories& factories;
  exchange_directory& directory;
  std::string state_directory; ///< for backends with local files; each attempt has its own below
  /// For local copies of snapshots, each subtask has its own below; empty: none are kept.
  std::string local_state_directory;
  wire_options wire; ///< how batches go to other processes
};

/// One running subtask: an actor whose mailbox is the task's. Control mail (cancel, credit, events,
/// checkpoints, timers) goes before data; its default action is a bounded turn of its stream_task,
/// after which it returns to its mailbox.
///
///     initializing: makes the chain, restores its state on the executor, opens it (there, too,
///                   where that may take long)
///     running:      turns, until everything is done
///     closing:      closes the operators, and ends when no step of theirs runs any more;
///                   then tells its task executor: finished, canceled or failed
///
/// Child of a task executor; all is touched in its own turns only.
class subtask final : public actors::endpoint, private operator_services {
public:
  subtask(subtask_environment around, task_description what,
          std::shared_ptr<const graph::job_code> code,
          std::shared_ptr<headrace::state::state_backend> backend,
          std::shared_ptr<slot_memory> memory, std::shared_ptr<task_metrics> metrics,
          actors::actor_ref task_executor);
  ~subtask() override;

private:
  /// Where credit of a channel goes.
  struct producer_link {
    actors::actor_ref to;              ///< the subtask, found at the first grant
    std::shared_ptr<link_writer> link; ///< null: it is of this process
    route_id route = 0;
  };

  /// By which any thread finds this subtask, as long as it is there.
  struct waking {
    std::mutex mutex;
    actors::actor_ref to;
  };

  // --- of endpoint
  void on_start() override;
  void on_mail(actors::mail_ptr content) override;
  void on_stop(const error& cause) override;

  // --- of operator_services
  void run_blocking(std::function<void()> step, std::function<void()> then) override;
  void after(std::chrono::milliseconds delay, std::function<void()> action) override;
  std::function<void()> waker() override;
  void send_to_coordinator(operator_id from, byte_string event) override;
  void fail(error cause) override;

  status initialize();
  result<std::vector<std::unique_ptr<result_partition>>> make_partitions() const;
  operator_context make_context();
  void restore();
  void tell_restored(const headrace::state::restore_tally& read, std::int64_t began_us);
  void open();
  void open_elsewhere();
  void begin_running();
  void take(const task_control& control);
  void take(remote_data& data);
  void take(attach_consumer& consumer);
  void take(const exchange_credit& credit);

  void wake();
  void take_turn();
  void after_turn(turn_result left);
  void send_grants();
  /// Notes a link that something of this task may wait for.
  const std::shared_ptr<link_writer>& known(const std::shared_ptr<link_writer>& link);
  /// Logs the moment at which a restarted task is known to work again.
  void note_first_rows();
  std::unique_ptr<exchange_channel> consumer_of(attach_consumer& asked);
  void prune_copies(checkpoint_id checkpoint, bool is_completed);
  void write_snapshot(begun_checkpoint taken);
  /// What was written is made lasting, together with what others have written meanwhile.
  void settle_snapshot(checkpoint_id checkpoint, snapshot_order order,
                       std::shared_ptr<result<written_snapshot>> written, std::int64_t started_us);
  /// Takes a turn when a barrier's time for an alignment is over.
  void set_overtaking_alarm();
  void set_alarm();
  void begin_closing(task_state outcome, error cause);
  void end_if_closed();
  void change(task_state to, error failure = {});
  void report(task_report::content_type what);
  /// Runs what may throw user code's exceptions; they fail the task.
  void guarded(const std::function<status()>& action);
  static status caught(const std::function<status()>& action);

  subtask_environment around_;
  task_description what_;
  std::shared_ptr<const graph::job_code> code_;
  std::shared_ptr<headrace::state::state_backend> backend_;
  std::shared_ptr<task_memory> memory_;
  std::shared_ptr<task_metrics> metrics_;
  actors::actor_ref task_executor_;
  std::shared_ptr<waking> waking_;
  std::shared_ptr<chain_services> services_;              ///< of the chain
  std::shared_ptr<headrace::state::local_copies> copies_; ///< null: none are kept
  std::unique_ptr<stream_task> task_;
  std::unordered_map<result_id, std::uint32_t> partition_by_result_;
  std::vector<producer_link> producers_;            ///< by channel
  std::vector<std::shared_ptr<link_writer>> links_; ///< to other processes; each once
  std::vector<graph::row_type_ptr> input_types_;
  std::optional<error> send_failure_; ///< of what could not be sent to another process

  task_state state_ = task_state::DEPLOYING;
  bool opened_ = false;
  std::optional<task_state> closing_; ///< the state to end in
  error failure_;
  std::size_t blocking_steps_ = 0;
  bool turn_pending_ = false;
  bool awaits_first_rows_ = false; ///< a restarted task that has emitted nothing yet
  bool ended_ = false;
  std::optional<std::int64_t> alarm_ms_;
  actors::timer_id alarm_ = 0;
  std::optional<std::int64_t> overtaking_alarm_us_;
};

} // namespace headrace::task
