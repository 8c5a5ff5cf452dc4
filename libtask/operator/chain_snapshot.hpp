#pragma once

#include "libstate/backend/keyed_backend.hpp"
#include "libstate/handle/state_handle.hpp"
#include "libstate/operator_state/operator_state_backend.hpp"

#include <memory>
#include <vector>

namespace headrace::task {

/// The asynchronous part of a subtask's snapshot: what each operator of the chain wants written.
/// Made on the subtask's mailbox, run once on an executor thread.
class chain_snapshot {
public:
  explicit chain_snapshot(checkpoint_id checkpoint) : checkpoint_(checkpoint) {}

  void add(operator_id from, std::unique_ptr<state::snapshot_job> keyed,
           std::unique_ptr<state::operator_snapshot_job> plain);
  checkpoint_id checkpoint() const { return checkpoint_; }
  bool is_empty() const { return parts_.empty(); }
  /// Runs all jobs, one after the other. May block and take long.
  result<state::task_state_snapshot> run(state::snapshot_target& target);

private:
  struct operator_part {
    operator_id id;
    std::unique_ptr<state::snapshot_job> keyed;
    std::unique_ptr<state::operator_snapshot_job> plain;
  };
  checkpoint_id checkpoint_;
  std::vector<operator_part> parts_;
};

} // namespace headrace::task
