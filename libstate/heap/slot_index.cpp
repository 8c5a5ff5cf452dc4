#include "libstate/heap/slot_index.hpp"

#include "libactors/base/assert.hpp"

#include <cstring>
#include <new>

namespace headrace::state {

slot_index::slot_index(page_pool& pool) : pool_(&pool) {
  segments_.push_back({allocate(slots_min), slots_min, 0, 0, 0});
  entries_.push_back({segments_[0].slots, slots_min - 1, 0});
}

slot_index::~slot_index() {
  for (auto& one : segments_)
    free_slots(one.slots, one.capacity);
}

std::uint64_t* slot_index::allocate(std::uint32_t capacity) {
  const auto size_bytes = capacity * sizeof(std::uint64_t);
  auto* out = static_cast<std::uint64_t*>(::operator new(size_bytes, std::align_val_t(64)));
  std::memset(out, 0, size_bytes);
  pool_->charge(size_bytes);
  return out;
}

void slot_index::free_slots(std::uint64_t* slots, std::uint32_t capacity) {
  ::operator delete(slots, std::align_val_t(64));
  pool_->discharge(capacity * sizeof(std::uint64_t));
}

void slot_index::place(std::uint64_t* slots, std::uint32_t mask, std::uint64_t held) {
  auto slot = home_of(static_cast<std::uint32_t>(held >> 32U), mask);
  while (slots[slot] != 0)
    slot = (slot + 1) & mask;
  slots[slot] = held;
}

void slot_index::insert(std::uint32_t hash, std::uint32_t row) {
  auto number = entry_of(hash).segment;
  while (segments_[number].count >= room_of(segments_[number].capacity)) {
    if (segments_[number].capacity < slots_max || segments_[number].depth >= depth_max)
      grow(number);
    else
      split(number);
    number = entry_of(hash).segment;
  }
  const auto& at = entry_of(hash);
  place(at.slots, at.mask, static_cast<std::uint64_t>(hash) << 32U | (row + 1U));
  ++segments_[number].count;
  ++size_;
}

slot_index::build_plan slot_index::begin_build(std::uint64_t count) {
  build_plan out;
  // Parts are not quite of a size: some room is left in each.
  while (out.depth < depth_max && count >> out.depth > room_of(slots_max) / 8 * 7)
    ++out.depth;
  out.ends.resize((std::size_t{1} << out.depth) + 1);
  return out;
}

void slot_index::end_build(const build_plan& plan) {
  HEADRACE_ASSERT(size_ == 0 && segments_.size() == 1, "an index is built while it is empty");
  free_slots(segments_[0].slots, segments_[0].capacity);
  segments_.clear();
  const auto parts = plan.ends.size() - 1;
  depth_ = plan.depth;
  shift_ = 32 - depth_;
  entries_.resize(parts);
  std::vector<std::uint64_t> left; // of parts that were larger than a segment
  std::uint64_t first = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto end = plan.ends[part];
    auto capacity = plan.depth == 0 ? slots_min : slots_max;
    while (end - first > room_of(capacity) && capacity < slots_max)
      capacity = capacity < 1024 ? capacity * 4 : capacity * 2;
    segment made{allocate(capacity), capacity, 0, plan.depth, static_cast<std::uint32_t>(part)};
    for (; first < end; ++first) {
      if (made.count >= room_of(capacity)) {
        left.push_back(plan.held[static_cast<std::size_t>(first)]);
        continue;
      }
      place(made.slots, capacity - 1, plan.held[static_cast<std::size_t>(first)]);
      ++made.count;
    }
    size_ += made.count;
    segments_.push_back(made);
    entries_[part] = {made.slots, capacity - 1, static_cast<std::uint32_t>(part)};
  }
  for (const auto held : left)
    insert(static_cast<std::uint32_t>(held >> 32U), static_cast<std::uint32_t>(held) - 1U);
}

void slot_index::erase(std::uint32_t hash, std::uint32_t row) {
  const auto& at = entry_of(hash);
  const auto wanted = static_cast<std::uint64_t>(hash) << 32U | (row + 1U);
  auto hole = home_of(hash, at.mask);
  while (at.slots[hole] != wanted) {
    HEADRACE_ASSERT(at.slots[hole] != 0, "row to erase is in the index");
    hole = (hole + 1) & at.mask;
  }
  // Moves back what was pushed past the hole, so that no probe ends early.
  for (auto slot = (hole + 1) & at.mask; at.slots[slot] != 0; slot = (slot + 1) & at.mask) {
    const auto home = home_of(static_cast<std::uint32_t>(at.slots[slot] >> 32U), at.mask);
    if (((slot - home) & at.mask) >= ((slot - hole) & at.mask)) {
      at.slots[hole] = at.slots[slot];
      hole = slot;
    }
  }
  at.slots[hole] = 0;
  --segments_[at.segment].count;
  --size_;
}

void slot_index::grow(std::uint32_t number) {
  auto& one = segments_[number];
  const auto capacity = one.capacity < 1024 ? one.capacity * 4 : one.capacity * 2;
  auto* slots = allocate(capacity);
  for (std::uint32_t i = 0; i < one.capacity; ++i) {
    if (one.slots[i] != 0)
      place(slots, capacity - 1, one.slots[i]);
  }
  free_slots(one.slots, one.capacity);
  one.slots = slots;
  one.capacity = capacity;
  point_to(number);
}

void slot_index::split(std::uint32_t number) {
  if (segments_[number].depth == depth_) {
    std::vector<entry> doubled;
    doubled.reserve(entries_.size() * 2);
    for (const auto& one : entries_) {
      doubled.push_back(one);
      doubled.push_back(one);
    }
    entries_.swap(doubled);
    ++depth_;
    --shift_;
  }
  auto& low = segments_[number];
  segment high{allocate(slots_max), slots_max, 0, low.depth + 1, low.prefix << 1U | 1U};
  auto* kept = allocate(slots_max);
  const std::uint32_t bit = 31U - low.depth;
  for (std::uint32_t i = 0; i < slots_max; ++i) {
    const auto held = low.slots[i];
    if (held == 0)
      continue;
    const bool is_high = ((held >> (32U + bit)) & 1U) != 0;
    place(is_high ? high.slots : kept, slots_max - 1, held);
    high.count += is_high ? 1U : 0U;
  }
  free_slots(low.slots, slots_max);
  low.slots = kept;
  low.count -= high.count;
  ++low.depth;
  low.prefix <<= 1U;
  segments_.push_back(high);
  point_to(number);
  point_to(static_cast<std::uint32_t>(segments_.size() - 1));
}

void slot_index::point_to(std::uint32_t number) {
  const auto& one = segments_[number];
  const auto first = static_cast<std::size_t>(one.prefix) << (depth_ - one.depth);
  const auto count = std::size_t{1} << (depth_ - one.depth);
  for (std::size_t i = first; i < first + count; ++i)
    entries_[i] = {one.slots, one.capacity - 1, number};
}

} // namespace headrace::state
