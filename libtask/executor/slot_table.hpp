#pragma once

#include "libactors/base/ids.hpp"
#include "libactors/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace headrace::task {

enum class slot_state : std::uint8_t {
  free,
  allocated, ///< for a job, whose job master has not accepted it yet
  active,    ///< accepted: tasks may be submitted
  freeing,   ///< free as soon as its last task has ended
};

struct task_slot {
  std::int32_t index = 0;
  slot_state state = slot_state::free;
  allocation_id allocation;
  job_id job;
  std::int32_t tasks = 0;
};

/// The slots of one task executor: who has which. Pure.
///
///     free ─ allocate ─▶ allocated ─ activate ─▶ active
///       ◀──────────── free, without tasks ────────┤
///       ◀── last task ended ── freeing ◀── free ──┘
class slot_table {
public:
  explicit slot_table(std::int32_t count);

  /// Gives a free slot to a job. The same allocation again changes nothing.
  /// @errors not_enough_slots  no such slot, or it belongs to another allocation
  status allocate(std::int32_t index, allocation_id allocation, job_id job);
  /// The job master has accepted the slot. Unknown allocations are passed over.
  void activate(allocation_id allocation);
  /// The slot is not needed any more. @returns whether it is free now (else when its tasks end)
  bool free(allocation_id allocation);

  /// A task was submitted into the slot. @errors not_enough_slots  unknown, freeing, or another job
  status add_task(allocation_id allocation, job_id job);
  /// A task in the slot ended. @returns the slot when that made it free
  std::optional<std::int32_t> remove_task(allocation_id allocation);

  const task_slot* find(allocation_id allocation) const;
  std::vector<task_slot> of_job(job_id job) const;
  const std::vector<task_slot>& all() const { return slots_; }

private:
  task_slot* find_mutable(allocation_id allocation);
  std::vector<task_slot> slots_;
};

} // namespace headrace::task
