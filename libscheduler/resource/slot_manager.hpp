#pragma once

#include "libactors/base/ids.hpp"
#include "libactors/base/random.hpp"
#include "libactors/rpc/address.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace headrace::scheduler {

/// A slot as its task executor reports it.
struct reported_slot {
  std::int32_t index = 0;
  allocation_id allocation; ///< none: free
  job_id job;
};

/// Decision: give this slot to that job.
struct slot_grant {
  task_executor_id executor;
  std::int32_t index = 0;
  allocation_id allocation;
  job_id job;
};

/// Decision: a job cannot have all that it needs now.
struct slot_shortage {
  job_id job;
  std::int32_t required = 0;
  std::int32_t available = 0; ///< slots that it has or could get
  friend bool operator==(const slot_shortage&, const slot_shortage&) = default;
};

struct slot_decisions {
  std::vector<slot_grant> grants;
  std::vector<slot_shortage> shortages; ///< only when changed since the last decision
  std::int32_t missing = 0;             ///< slots that nobody has, over all jobs
};

/// Matches what jobs declare with the free slots of registered task executors, spreading a job's
/// slots: the task executor with the lowest share in use is next. Pure.
class slot_manager {
public:
  explicit slot_manager(random_source& random) : random_(random) {}

  void add_executor(const task_executor_id& executor, const std::vector<reported_slot>& slots);
  void remove_executor(const task_executor_id& executor);
  /// A later report of a known executor. Slots of which a grant is under way are left as they are.
  void update_executor(const task_executor_id& executor, const std::vector<reported_slot>& slots);
  /// The executor took the grant, or did not: then the slot is not offered before its next report.
  void grant_answered(const task_executor_id& executor, const allocation_id& allocation,
                      bool is_taken);
  void slot_freed(const task_executor_id& executor, std::int32_t index);

  /// The newest declaration of a job counts; 0: needs none.
  void declare(const job_id& job, std::int32_t required);
  void remove_job(const job_id& job) { required_.erase(job); }

  /// Gives free slots to jobs that need more.
  slot_decisions decide();

  /// Empty for an executor that is not known.
  std::vector<reported_slot> slots_of(const task_executor_id& executor) const;
  std::int32_t slots_total() const;
  std::int32_t slots_free() const;

private:
  enum class slot_state : std::uint8_t { free, granting, taken, doubtful };
  struct slot {
    slot_state state = slot_state::free;
    allocation_id allocation;
    job_id job;
  };
  using slots_by_index = std::map<std::int32_t, slot>;
  static slot from_report(const reported_slot& reported);
  class free_slots;

  random_source& random_;
  std::map<task_executor_id, slots_by_index> executors_;
  std::map<job_id, std::int32_t> required_;
  std::map<job_id, slot_shortage> told_;
};

} // namespace headrace::scheduler
