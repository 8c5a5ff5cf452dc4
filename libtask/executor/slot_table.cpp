#include "libtask/executor/slot_table.hpp"

#include <algorithm>
#include <string>

namespace headrace::task {

namespace {
void make_free(task_slot& slot) { slot = task_slot{slot.index, slot_state::free, {}, {}, 0}; }
} // namespace

slot_table::slot_table(std::int32_t count) : slots_(static_cast<std::size_t>(count)) {
  for (std::int32_t i = 0; i < count; ++i)
    slots_[static_cast<std::size_t>(i)].index = i;
}

status slot_table::allocate(std::int32_t index, allocation_id allocation, job_id job) {
  if (index < 0 || static_cast<std::size_t>(index) >= slots_.size())
    return error(errc::not_enough_slots, "no such slot: " + std::to_string(index));
  auto& slot = slots_[static_cast<std::size_t>(index)];
  if (slot.allocation == allocation && slot.job == job && slot.state != slot_state::freeing)
    return {};
  if (slot.state != slot_state::free)
    return error(errc::not_enough_slots, "slot is taken: " + std::to_string(index) +
                                             ", by allocation " + to_string(slot.allocation));
  if (find(allocation) != nullptr)
    return error(errc::not_enough_slots,
                 "allocation has another slot already: " + to_string(allocation));
  slot.state = slot_state::allocated;
  slot.allocation = allocation;
  slot.job = job;
  return {};
}

void slot_table::activate(allocation_id allocation) {
  if (auto* slot = find_mutable(allocation);
      slot != nullptr && slot->state == slot_state::allocated)
    slot->state = slot_state::active;
}

bool slot_table::free(allocation_id allocation) {
  auto* slot = find_mutable(allocation);
  if (slot == nullptr)
    return true;
  if (slot->tasks > 0) {
    slot->state = slot_state::freeing;
    return false;
  }
  make_free(*slot);
  return true;
}

status slot_table::add_task(allocation_id allocation, job_id job) {
  auto* slot = find_mutable(allocation);
  if (slot == nullptr || slot->state == slot_state::freeing || slot->job != job)
    return error(errc::not_enough_slots, "slot is not allocated to the job: allocation " +
                                             to_string(allocation) + ", job " + to_string(job));
  ++slot->tasks;
  return {};
}

std::optional<std::int32_t> slot_table::remove_task(allocation_id allocation) {
  auto* slot = find_mutable(allocation);
  if (slot == nullptr || slot->tasks == 0)
    return std::nullopt;
  if (--slot->tasks > 0 || slot->state != slot_state::freeing)
    return std::nullopt;
  make_free(*slot);
  return slot->index;
}

const task_slot* slot_table::find(allocation_id allocation) const {
  if (allocation.is_none())
    return nullptr;
  const auto at = std::find_if(slots_.begin(), slots_.end(),
                               [&](const auto& one) { return one.allocation == allocation; });
  return at == slots_.end() ? nullptr : &*at;
}

task_slot* slot_table::find_mutable(allocation_id allocation) {
  const auto* found = find(allocation);
  return found == nullptr ? nullptr : &slots_[static_cast<std::size_t>(found->index)];
}

std::vector<task_slot> slot_table::of_job(job_id job) const {
  std::vector<task_slot> out;
  for (const auto& slot : slots_)
    if (slot.state != slot_state::free && slot.job == job)
      out.push_back(slot);
  return out;
}

} // namespace headrace::task
