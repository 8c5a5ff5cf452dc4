#pragma once

#include "libgraph/connector/source.hpp"
#include "libactors/base/ids.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace headrace::scheduler {

/// Remembers which splits were assigned to which reader since which checkpoint, so that those that
/// a failed reader's restored state does not know come back. Pure.
///
///     assign a │ checkpoint 1 │ assign b │ checkpoint 2 │ assign c
///     reader restored from 1: b and c come back; a is in its state
class split_assignment_tracker {
public:
  void assign(std::int32_t reader, const std::vector<graph::source_split>& splits);
  /// The coordinator's snapshot of this checkpoint is being taken: what was assigned before it is
  /// in the readers' states.
  void on_checkpoint(checkpoint_id checkpoint);
  /// Nobody will restore an older checkpoint any more.
  void on_checkpoint_completed(checkpoint_id checkpoint);
  /// Takes out what the reader was assigned since `restored` (0: ever), in order of assignment.
  std::vector<graph::source_split> take_back(std::int32_t reader, checkpoint_id restored);
  /// All readers start over.
  void reset();

private:
  using splits_by_reader = std::map<std::int32_t, std::vector<graph::source_split>>;
  std::map<checkpoint_id, splits_by_reader>
      before_;             // assigned before that checkpoint, since the last
  splits_by_reader since_; // since the last checkpoint
};

} // namespace headrace::scheduler
