#pragma once

#include "libscheduler/checkpoint/checkpoint_coordinator.hpp"
#include "libscheduler/checkpoint/checkpoint_mail.hpp"
#include "libscheduler/checkpoint/checkpoint_record.hpp"
#include "libscheduler/checkpoint/master_hooks.hpp"
#include "libstate/checkpoint/checkpoint_storage.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/rpc/endpoint.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace headrace::scheduler {

/// What a job's checkpoint coordinator is made from. `files` lives longer.
struct checkpoint_coordinator_options {
  std::shared_ptr<const graph::job_graph> job;
  std::shared_ptr<headrace::state::checkpoint_storage>
      storage;                                       ///< of this job; used by its steps only
  std::shared_ptr<const checkpoint_records> records; ///< null: the job ends with the process
  file_system* files = nullptr;                      ///< for the checkpoint to restore from
  graph::job_code_loader* code = nullptr;            ///< of master hooks; may be null
  std::string artifact_directory;
};

/// Carries out what a checkpoint_coordinator decides: snapshots operator coordinators, triggers
/// tasks, writes manifests and removes old checkpoints on the executor, one storage step after the
/// other. Knows the completed checkpoints, newest last, and says what tasks restore from. A child
/// of the job master.
class checkpoint_coordinator_endpoint final : public actors::endpoint {
public:
  checkpoint_coordinator_endpoint(checkpoint_coordinator_options options,
                                  actors::actor_ref job_master);

private:
  using checkpoint_ptr = std::shared_ptr<const headrace::state::completed_checkpoint>;
  using storage_step = std::function<status(headrace::state::checkpoint_storage&)>;
  using storage_then = std::function<void(const status&)>;
  using hook_step = std::function<status(master_hooks&)>;
  struct hook_call {
    checkpoint_id only_for = 0;
    hook_step step;
    storage_then then;
  };

  void on_mail(actors::mail_ptr content) override;
  void on_start() override;

  /// Carries out the core's actions, sets the timer.
  void proceed();
  void carry_out(const plan_tasks& what);
  void carry_out(const prepare_storage& what);
  void carry_out(const snapshot_coordinators& what);
  void carry_out(const trigger_hooks& what);
  void carry_out(const trigger_tasks& what);
  void carry_out(const store_checkpoint& what);
  void carry_out(const announce_completed& what);
  void carry_out(const announce_aborted& what);
  void carry_out(const answer_request& what);
  void carry_out(const answer_savepoint& what);
  void carry_out(const give_up& what);

  void hear(const checkpoint_acknowledged& acknowledged);
  void hear(const checkpoint_declined& declined);
  void restore(const restore_requested& request);
  void read_first(std::uint64_t epoch);
  void answer_restore(std::uint64_t epoch);
  result<restored_job> assign() const;
  void remove_old();
  /// What tasks wrote after the checkpoint was aborted and its directory was removed.
  void remove_aborted(const announce_aborted& what);
  void remove_aborted_again(checkpoint_id checkpoint);
  void remove_all_aborted();
  void end();
  void release(const checkpoints_released& how);
  void resume_coordinators(checkpoint_id checkpoint);
  message<schema::CheckpointOverview> overview() const;

  // --- master hooks (checkpoint_coordinator_hooks.cpp)
  void restore_hooks(std::uint64_t epoch, result<restored_job> assigned);
  void close_hooks();
  /// Runs their calls one after the other.
  /// @param only_for  a checkpoint that waits for it: else it is left out. 0: always
  void on_hooks(checkpoint_id only_for, hook_step step, storage_then then);
  void next_hook_step();
  /// Runs storage steps one after the other.
  void on_storage(storage_step step, storage_then then);
  void next_storage_step();
  std::int64_t now_ms() const { return environment().time.wall_ms(); }

  checkpoint_coordinator_options options_;
  actors::actor_ref job_master_;
  std::map<operator_id, actors::actor_ref> coordinators_;
  std::optional<checkpoint_coordinator> core_;
  std::deque<checkpoint_ptr> completed_; // newest last; the one restored from included
  checkpoint_ptr foreign_;               // restored from, not ours to remove
  std::deque<announce_aborted> aborted_; // newest last; at most `aborted_most`
  std::vector<restore_requested> waiting_restores_;
  std::deque<std::pair<storage_step, storage_then>> storage_queue_;
  bool is_storage_busy_ = false;
  std::shared_ptr<master_hooks> hooks_; // used by its steps only; null: there are none
  std::deque<hook_call> hook_queue_;    // at most `hook_calls_most`
  bool is_hook_busy_ = false;
  std::optional<actors::timer_id> timer_;
};

} // namespace headrace::scheduler
