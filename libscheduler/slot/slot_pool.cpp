#include "libscheduler/slot/slot_pool.hpp"

#include <algorithm>
#include <set>

namespace headrace::scheduler {

void slot_pool::want(const std::vector<std::int32_t>& shared_slots, std::int64_t now_ms) {
  for (const std::int32_t shared_slot : shared_slots)
    wanted_.emplace(shared_slot, now_ms);
}

void slot_pool::release(const std::vector<std::int32_t>& shared_slots, std::int64_t now_ms) {
  for (const std::int32_t shared_slot : shared_slots) {
    wanted_.erase(shared_slot);
    if (held_slot* held = holder_of(shared_slot)) {
      held->shared_slot = -1;
      held->idle_since_ms = now_ms;
    }
  }
}

std::vector<allocation_id> slot_pool::offer(const std::vector<task_slot>& offered,
                                            std::int64_t now_ms) {
  std::vector<allocation_id> taken;
  const bool has_need = required() > 0;
  for (const task_slot& slot : offered) {
    if (const auto known = slots_.find(slot.allocation); known != slots_.end())
      known->second.slot = slot;
    else if (has_need)
      slots_[slot.allocation] = {slot, -1, now_ms};
    else
      continue;
    taken.push_back(slot.allocation);
  }
  return taken;
}

std::vector<std::int32_t> slot_pool::lose(const task_executor_id& executor) {
  std::vector<std::int32_t> lost;
  std::erase_if(slots_, [&](const auto& entry) {
    if (entry.second.slot.executor != executor)
      return false;
    if (entry.second.shared_slot >= 0)
      lost.push_back(entry.second.shared_slot);
    return true;
  });
  std::sort(lost.begin(), lost.end());
  return lost;
}

std::vector<slot_assignment> slot_pool::assign() {
  std::int32_t missing = 0;
  for (const auto& [shared_slot, since] : wanted_)
    missing += holder_of(shared_slot) == nullptr ? 1 : 0;
  const auto idle = std::count_if(slots_.begin(), slots_.end(),
                                  [](const auto& entry) { return entry.second.shared_slot < 0; });
  if (wanted_.empty() || idle < missing)
    return {};

  std::vector<slot_assignment> assigned;
  std::vector<std::int32_t> open;
  for (const auto& [shared_slot, since] : wanted_) {
    const auto last = last_.find(shared_slot);
    const auto before = last == last_.end() ? slots_.end() : slots_.find(last->second.allocation);
    if (held_slot* held = holder_of(shared_slot)) {
      give(*held, shared_slot, assigned);
    } else if (before != slots_.end() && before->second.shared_slot < 0) {
      give(before->second, shared_slot, assigned);
    } else {
      open.push_back(shared_slot);
    }
  }
  return_home(open, assigned);
  spread(open, assigned);
  wanted_.clear();
  std::sort(assigned.begin(), assigned.end(),
            [](const auto& a, const auto& b) { return a.shared_slot < b.shared_slot; });
  return assigned;
}

/// Gives shared slots idle slots of the task executors that they were on; leaves the others in the
/// list.
void slot_pool::return_home(std::vector<std::int32_t>& shared_slots,
                            std::vector<slot_assignment>& out) {
  std::map<task_executor_id, std::vector<held_slot*>> idle;
  for (auto& [allocation, held] : slots_) {
    if (held.shared_slot < 0)
      idle[held.slot.executor].push_back(&held);
  }
  std::erase_if(shared_slots, [&](std::int32_t shared_slot) {
    const auto last = last_.find(shared_slot);
    const auto home = last == last_.end() ? idle.end() : idle.find(last->second.executor);
    if (home == idle.end() || home->second.empty())
      return false;
    give(*home->second.back(), shared_slot, out);
    home->second.pop_back();
    return true;
  });
}

void slot_pool::spread(const std::vector<std::int32_t>& shared_slots,
                       std::vector<slot_assignment>& out) {
  std::map<task_executor_id, std::int32_t> load; // slots with tasks
  std::map<task_executor_id, std::vector<held_slot*>> idle;
  for (auto& [allocation, held] : slots_) {
    load[held.slot.executor] += held.shared_slot >= 0 ? 1 : 0;
    if (held.shared_slot < 0)
      idle[held.slot.executor].push_back(&held);
  }
  std::set<std::pair<std::int32_t, task_executor_id>> by_load;
  for (const auto& [executor, slots] : idle)
    by_load.emplace(load[executor], executor);
  for (const std::int32_t shared_slot : shared_slots) {
    const auto [least, executor] = *by_load.begin();
    by_load.erase(by_load.begin());
    auto& slots = idle[executor];
    give(*slots.back(), shared_slot, out);
    slots.pop_back();
    if (!slots.empty())
      by_load.emplace(least + 1, executor);
  }
}

void slot_pool::give(held_slot& slot, std::int32_t shared_slot, std::vector<slot_assignment>& out) {
  slot.shared_slot = shared_slot;
  last_[shared_slot] = {slot.slot.allocation, slot.slot.executor};
  out.push_back({shared_slot, slot.slot});
}

slot_pool::held_slot* slot_pool::holder_of(std::int32_t shared_slot) {
  const auto last = last_.find(shared_slot);
  if (last == last_.end())
    return nullptr;
  const auto held = slots_.find(last->second.allocation);
  return held != slots_.end() && held->second.shared_slot == shared_slot ? &held->second : nullptr;
}

std::vector<task_slot> slot_pool::take_idle(std::int64_t now_ms) {
  std::vector<task_slot> taken;
  if (!wanted_.empty())
    return taken; // they are about to be assigned
  std::erase_if(slots_, [&](const auto& entry) {
    const held_slot& held = entry.second;
    if (held.shared_slot >= 0 || now_ms < held.idle_since_ms + settings_.idle_timeout_ms)
      return false;
    taken.push_back(held.slot);
    return true;
  });
  return taken;
}

std::vector<task_slot> slot_pool::take_all() {
  std::vector<task_slot> taken;
  for (const auto& [allocation, held] : slots_)
    taken.push_back(held.slot);
  slots_.clear();
  wanted_.clear();
  return taken;
}

std::optional<error> slot_pool::expire(std::int64_t now_ms) {
  const bool is_over = std::any_of(wanted_.begin(), wanted_.end(), [&](const auto& want) {
    return now_ms >= want.second + settings_.request_timeout_ms;
  });
  if (!is_over)
    return std::nullopt;
  error late(errc::not_enough_slots,
             "slots did not come in time; start more task managers, give them more slots, or lower "
             "the parallelism: required " +
                 std::to_string(required()) + ", available " +
                 std::to_string(std::max(held(), available_)) + ", after " +
                 std::to_string(settings_.request_timeout_ms) + " ms");
  wanted_.clear();
  return late;
}

std::optional<std::int64_t> slot_pool::next_deadline_ms() const {
  std::optional<std::int64_t> next;
  const auto consider = [&](std::int64_t at) { next = next ? std::min(*next, at) : at; };
  for (const auto& [shared_slot, since] : wanted_)
    consider(since + settings_.request_timeout_ms);
  if (wanted_.empty()) {
    for (const auto& [allocation, held] : slots_) {
      if (held.shared_slot < 0)
        consider(held.idle_since_ms + settings_.idle_timeout_ms);
    }
  }
  return next;
}

std::int32_t slot_pool::required() const {
  std::int32_t in_use = 0;
  for (const auto& [allocation, held] : slots_)
    in_use += held.shared_slot >= 0 && !wanted_.contains(held.shared_slot) ? 1 : 0;
  return in_use + static_cast<std::int32_t>(wanted_.size());
}

std::string slot_pool::waiting_for() const {
  const auto missing = wanted_.empty() ? 0 : required() - held();
  if (missing <= 0)
    return {};
  return std::to_string(missing) + (missing == 1 ? " more slot (has " : " more slots (has ") +
         std::to_string(held()) + " of " + std::to_string(required()) + ")";
}

} // namespace headrace::scheduler
