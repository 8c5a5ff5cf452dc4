#pragma once

#include "libscheduler/execution_graph/execution_graph.hpp"
#include "libactors/base/error.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/rpc/address.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headrace::scheduler {

/// How long a slot pool waits.
struct slot_pool_settings {
  std::int64_t request_timeout_ms = 300'000; ///< until a wanted slot must be there
  std::int64_t idle_timeout_ms = 10'000;     ///< until a slot without tasks is given back
};

/// A shared slot of the job (by number, see slot_sharing) and the slot that it got.
struct slot_assignment {
  std::int32_t shared_slot = 0;
  task_slot slot;
  friend bool operator==(const slot_assignment&, const slot_assignment&) = default;
};

/// Holds the slots that a job was given, and hands them to its shared slots. Wanted slots are
/// assigned all at once, when there is one for each; a shared slot gets the one that it had before
/// where that is still there, else one of the task executor that it was on, which may have come
/// back and has local copies of its state; the rest is spread over task executors. Pure.
class slot_pool {
public:
  explicit slot_pool(slot_pool_settings settings) : settings_(settings) {}

  /// The shared slots need a slot each; those that have one keep it and are assigned again.
  void want(const std::vector<std::int32_t>& shared_slots, std::int64_t now_ms);
  /// The shared slots are done with their slots; requests of theirs are dropped.
  void release(const std::vector<std::int32_t>& shared_slots, std::int64_t now_ms);

  /// Takes slots while any are needed; those that it holds already are taken again. One too many
  /// is given back after the idle time: refused at once, the resource manager, which knows of fewer
  /// slots while a task executor is lost to it alone, would grant it again without a pause.
  /// @returns the allocations that were taken
  std::vector<allocation_id> offer(const std::vector<task_slot>& offered, std::int64_t now_ms);
  /// The task executor is gone. @returns the shared slots that lost theirs, ascending
  std::vector<std::int32_t> lose(const task_executor_id& executor);
  /// What could be had, as the resource manager says.
  void note_available(std::int32_t slots) { available_ = slots; }

  /// The slots for all wanted shared slots, once there is one for each; else nothing.
  std::vector<slot_assignment> assign();
  /// The slots whose idle time is over; they are not the pool's any more.
  std::vector<task_slot> take_idle(std::int64_t now_ms);
  /// All slots; the pool is empty after it.
  std::vector<task_slot> take_all();

  /// @returns not_enough_slots when the oldest want is older than the timeout; wants are dropped
  std::optional<error> expire(std::int64_t now_ms);
  /// When `expire` or `take_idle` may have something; nothing: no time matters.
  std::optional<std::int64_t> next_deadline_ms() const;

  /// How many slots the job needs in all: those with tasks and those wanted.
  std::int32_t required() const;
  std::int32_t held() const { return static_cast<std::int32_t>(slots_.size()); }
  /// "2 of 4 slots" while slots are wanted, else empty.
  std::string waiting_for() const;

private:
  struct held_slot {
    task_slot slot;
    std::int32_t shared_slot = -1; // -1: idle
    std::int64_t idle_since_ms = 0;
  };
  void return_home(std::vector<std::int32_t>& shared_slots, std::vector<slot_assignment>& out);
  void spread(const std::vector<std::int32_t>& shared_slots, std::vector<slot_assignment>& out);
  void give(held_slot& slot, std::int32_t shared_slot, std::vector<slot_assignment>& out);
  held_slot* holder_of(std::int32_t shared_slot);

  slot_pool_settings settings_;
  std::map<allocation_id, held_slot> slots_;
  std::map<std::int32_t, std::int64_t> wanted_; // shared slot → since when
  struct place {
    allocation_id allocation;
    task_executor_id executor;
  };
  std::map<std::int32_t, place> last_; // what each shared slot had
  std::int32_t available_ = 0;
};

} // namespace headrace::scheduler
