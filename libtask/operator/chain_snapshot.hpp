#pragma once

#include "libstate/backend/keyed_backend.hpp"
#include "libstate/channel/channel_state.hpp"
#include "libstate/handle/state_handle.hpp"
#include "libstate/operator_state/operator_state_backend.hpp"
#include "libstate/raw_state/raw_state.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace headrace::task {

/// The asynchronous part of a subtask's snapshot: what each operator of the chain wants written.
/// Made on the subtask's mailbox, run once on an executor thread.
class chain_snapshot {
public:
  explicit chain_snapshot(checkpoint_id checkpoint) : checkpoint_(checkpoint) {}

  void add(operator_id from, std::unique_ptr<state::snapshot_job> keyed,
           std::unique_ptr<state::operator_snapshot_job> plain,
           std::unique_ptr<state::raw_snapshot> raw = nullptr);
  /// The event time that an operator had reached when the barrier passed it.
  void add_watermark(operator_id of, std::int64_t watermark_ms) { marks_[of] = watermark_ms; }
  /// What the barriers have overtaken; stored with the chain's head.
  void add_in_flight(operator_id head, std::vector<state::channel_content> channels);
  checkpoint_id checkpoint() const { return checkpoint_; }
  /// Whether there is something to write.
  bool has_state() const { return !parts_.empty() || !channels_.empty(); }
  /// What is known without writing: where event time stands.
  state::task_state_snapshot watermarks() const;
  /// Runs all jobs, one after the other. May block and take long.
  result<state::task_state_snapshot> run(state::snapshot_target& target);

private:
  struct operator_part {
    operator_id id;
    std::unique_ptr<state::snapshot_job> keyed;
    std::unique_ptr<state::operator_snapshot_job> plain;
    std::unique_ptr<state::raw_snapshot> raw;
  };
  checkpoint_id checkpoint_;
  std::vector<operator_part> parts_;
  std::map<operator_id, std::int64_t> marks_;
  operator_id head_;
  std::vector<state::channel_content> channels_;
};

} // namespace headrace::task
