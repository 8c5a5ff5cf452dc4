#include "libscheduler/resource/slot_manager.hpp"

#include <algorithm>
#include <set>

namespace headrace::scheduler {

slot_manager::slot slot_manager::from_report(const reported_slot& reported) {
  if (reported.allocation.is_none())
    return {};
  return {slot_state::taken, reported.allocation, reported.job};
}

void slot_manager::add_executor(const task_executor_id& executor,
                                const std::vector<reported_slot>& slots) {
  slots_by_index& known = executors_[executor];
  known.clear();
  for (const reported_slot& reported : slots)
    known[reported.index] = from_report(reported);
  told_.clear(); // what is available has changed
}

void slot_manager::remove_executor(const task_executor_id& executor) {
  executors_.erase(executor);
  told_.clear();
}

void slot_manager::update_executor(const task_executor_id& executor,
                                   const std::vector<reported_slot>& slots) {
  const auto known = executors_.find(executor);
  if (known == executors_.end())
    return;
  for (const reported_slot& reported : slots) {
    const auto found = known->second.find(reported.index);
    if (found == known->second.end() || found->second.state != slot_state::granting)
      known->second[reported.index] = from_report(reported);
  }
}

void slot_manager::grant_answered(const task_executor_id& executor, const allocation_id& allocation,
                                  bool is_taken) {
  const auto known = executors_.find(executor);
  if (known == executors_.end())
    return;
  for (auto& [index, held] : known->second) {
    if (held.allocation == allocation && held.state == slot_state::granting)
      held.state = is_taken ? slot_state::taken : slot_state::doubtful;
  }
}

void slot_manager::slot_freed(const task_executor_id& executor, std::int32_t index) {
  const auto known = executors_.find(executor);
  if (known != executors_.end() && known->second.contains(index))
    known->second[index] = {};
}

void slot_manager::declare(const job_id& job, std::int32_t required) {
  if (required <= 0)
    required_.erase(job);
  else
    required_[job] = required;
  told_.erase(job);
}

/// The free slots in the order in which they are given: next is the lowest index of the executor
/// with the lowest share in use.
class slot_manager::free_slots {
public:
  explicit free_slots(std::map<task_executor_id, slots_by_index>& executors)
      : executors_(executors) {
    for (auto& [executor, slots] : executors_) {
      std::int32_t in_use = 0;
      for (auto& [index, held] : slots)
        in_use += held.state == slot_state::free ? 0 : 1;
      add(executor, in_use, slots);
    }
  }
  bool is_empty() const { return by_share_.empty(); }
  std::pair<task_executor_id, std::int32_t> take() {
    const auto [share, executor] = *by_share_.begin();
    by_share_.erase(by_share_.begin());
    auto& slots = executors_[executor];
    const auto free = std::find_if(slots.begin(), slots.end(), [](const auto& entry) {
      return entry.second.state == slot_state::free;
    });
    free->second.state = slot_state::granting;
    add(executor, ++in_use_[executor], slots);
    return {executor, free->first};
  }

private:
  void add(const task_executor_id& executor, std::int32_t in_use, const slots_by_index& slots) {
    in_use_[executor] = in_use;
    if (static_cast<std::size_t>(in_use) < slots.size())
      by_share_.emplace(static_cast<double>(in_use) / static_cast<double>(slots.size()), executor);
  }

  std::map<task_executor_id, slots_by_index>& executors_;
  std::map<task_executor_id, std::int32_t> in_use_;
  std::set<std::pair<double, task_executor_id>> by_share_;
};

slot_decisions slot_manager::decide() {
  std::map<job_id, std::int32_t> held_by;
  for (const auto& [executor, slots] : executors_) {
    for (const auto& [index, held] : slots) {
      if (held.state == slot_state::granting || held.state == slot_state::taken)
        ++held_by[held.job];
    }
  }
  free_slots free(executors_);
  slot_decisions made;
  for (const auto& [job, required] : required_) {
    std::int32_t& has = held_by[job];
    for (; has < required && !free.is_empty(); ++has) {
      const auto [executor, index] = free.take();
      slot& given = executors_[executor][index];
      given = {slot_state::granting, random_.next_id<allocation_id>(), job};
      made.grants.push_back({executor, index, given.allocation, job});
    }
    if (has >= required) {
      told_.erase(job);
      continue;
    }
    made.missing += required - has;
    const slot_shortage shortage{job, required, has};
    if (const auto before = told_.find(job); before == told_.end() || before->second != shortage) {
      told_[job] = shortage;
      made.shortages.push_back(shortage);
    }
  }
  return made;
}

std::vector<reported_slot> slot_manager::slots_of(const task_executor_id& executor) const {
  std::vector<reported_slot> out;
  if (const auto found = executors_.find(executor); found != executors_.end()) {
    for (const auto& [index, held] : found->second)
      out.push_back({index, held.allocation, held.job});
  }
  return out;
}

std::int32_t slot_manager::slots_total() const {
  std::int32_t count = 0;
  for (const auto& [executor, slots] : executors_)
    count += static_cast<std::int32_t>(slots.size());
  return count;
}

std::int32_t slot_manager::slots_free() const {
  std::int32_t count = 0;
  for (const auto& [executor, slots] : executors_) {
    for (const auto& [index, held] : slots)
      count += held.state == slot_state::free ? 1 : 0;
  }
  return count;
}

} // namespace headrace::scheduler
