#pragma once

#include "libstate/heap/page_pool.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace headrace::state {

/// Finds row numbers by 32 hash bits: open addressing with linear probing in segments that split.
///
///     hash bits   31 ……… 32-depth | …………………… | 14 ……… 0
///                 entry of the    |          | slot of the segment
///                 directory       |          |
///
/// A slot is `hash << 32 | row + 1`, 0 when empty. A segment doubles up to `slots_max`, then splits
/// in two, so that no insertion moves more than one segment; both need the slots only, never the
/// rows. Equal hashes of different keys are the caller's to tell apart.
class slot_index {
public:
  static constexpr std::uint32_t none = 0xffffffffU;

  explicit slot_index(page_pool& pool);
  ~slot_index();
  slot_index(const slot_index&) = delete;
  slot_index& operator=(const slot_index&) = delete;

  /// Where probing begins: at groups of four slots, which lie in one cache line.
  static std::uint32_t home_of(std::uint32_t hash, std::uint32_t mask) { return hash & mask & ~3U; }

  /// What a look-up reads, by value: valid until the next insertion.
  struct entry {
    std::uint64_t* slots;
    std::uint32_t mask;
    std::uint32_t segment;
  };
  struct view {
    const entry* entries;
    std::uint32_t shift;

    const entry& of(std::uint32_t hash) const {
      return entries[static_cast<std::size_t>(static_cast<std::uint64_t>(hash) >> shift)];
    }
    /// The slots where a probe begins; a cache line to fetch.
    const std::uint64_t* home(std::uint32_t hash) const {
      const auto& at = of(hash);
      return at.slots + home_of(hash, at.mask);
    }
    /// Most likely the row with that hash; `none` or another one is no proof that it is not there.
    /// Compares the first slots at once: how far a row was pushed is not predictable.
    static std::uint32_t guess(const std::uint64_t* home, std::uint32_t hash) {
#ifdef __SSE2__
      const auto low = _mm_load_ps(reinterpret_cast<const float*>(home));
      const auto high = _mm_load_ps(reinterpret_cast<const float*>(home + 2));
      const auto hashes = _mm_castps_si128(_mm_shuffle_ps(low, high, _MM_SHUFFLE(3, 1, 3, 1)));
      const auto equal = _mm_cmpeq_epi32(hashes, _mm_set1_epi32(static_cast<int>(hash)));
      const auto found = static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(equal)));
      if (found == 0) [[unlikely]]
        return none;
      return static_cast<std::uint32_t>(home[static_cast<unsigned>(std::countr_zero(found))]) - 1;
#else
      auto held = home[3];
      held = is_of(home[2], hash) ? home[2] : held;
      held = is_of(home[1], hash) ? home[1] : held;
      held = is_of(home[0], hash) ? home[0] : held;
      return is_of(held, hash) ? static_cast<std::uint32_t>(held) - 1 : none;
#endif
    }
    static bool is_of(std::uint64_t held, std::uint32_t hash) {
      return static_cast<std::uint32_t>(held >> 32U) == hash;
    }
  };
  view look() const { return {entries_.data(), shift_}; }
  /// The row with that hash for which `is_it(row)`, or `none`.
  template <class Predicate>
  std::uint32_t find(std::uint32_t hash, Predicate is_it) const {
    const auto& at = entry_of(hash);
    for (std::uint32_t slot = home_of(hash, at.mask);; slot = (slot + 1) & at.mask) {
      const auto held = at.slots[slot];
      if (held == 0)
        return none;
      if (static_cast<std::uint32_t>(held >> 32U) == hash &&
          is_it(static_cast<std::uint32_t>(held) - 1))
        return static_cast<std::uint32_t>(held) - 1;
    }
  }
  /// Adds a row that is not there.
  void insert(std::uint32_t hash, std::uint32_t row);
  /// Fills an empty index with `count` rows at once: `each(body)` calls `body(hash, row)` for all
  /// of them, and is called twice. Goes over few segments at a time, which stay in the caches.
  template <class Each>
  void build(std::uint64_t count, Each each) {
    auto plan = begin_build(count);
    each([&](std::uint32_t hash, std::uint32_t) { ++plan.ends[plan.part_of(hash) + 1]; });
    for (std::size_t i = 1; i < plan.ends.size(); ++i)
      plan.ends[i] += plan.ends[i - 1];
    plan.held.resize(plan.ends.back());
    // Each end is first where its part begins, and where it ends once its rows are placed.
    each([&](std::uint32_t hash, std::uint32_t row) {
      plan.held[plan.ends[plan.part_of(hash)]++] =
          static_cast<std::uint64_t>(hash) << 32U | (row + 1U);
    });
    end_build(plan);
  }
  /// Removes a row that is there.
  void erase(std::uint32_t hash, std::uint32_t row);

  std::uint64_t size() const { return size_; }
  bool is_one_segment() const { return depth_ == 0; }

private:
  struct segment {
    std::uint64_t* slots = nullptr;
    std::uint32_t capacity = 0;
    std::uint32_t count = 0;
    std::uint32_t depth = 0;
    std::uint32_t prefix = 0; ///< the first `depth` bits of its hashes
  };
  static constexpr std::uint32_t slots_min = 16;
  static constexpr std::uint32_t slots_max = 32768;
  /// Rows of a segment: few of the slots while it is small and its look-ups are worth most, three
  /// quarters once memory counts.
  static constexpr std::uint32_t room_of(std::uint32_t capacity) {
    return capacity < slots_max ? capacity / 8 * 3 : capacity / 4 * 3;
  }
  static constexpr std::uint32_t depth_max = 17; ///< with 15 slot bits all of the hash is used up

  /// Rows by the segment that they go to.
  struct build_plan {
    std::uint32_t depth = 0;
    std::vector<std::uint64_t> ends;
    std::vector<std::uint64_t> held; ///< as slots hold them
    std::size_t part_of(std::uint32_t hash) const {
      return static_cast<std::size_t>(std::uint64_t{hash} >> (32U - depth));
    }
  };
  static build_plan begin_build(std::uint64_t count);
  void end_build(const build_plan& plan);

  const entry& entry_of(std::uint32_t hash) const {
    return entries_[static_cast<std::size_t>(static_cast<std::uint64_t>(hash) >> shift_)];
  }
  std::uint64_t* allocate(std::uint32_t capacity);
  void free_slots(std::uint64_t* slots, std::uint32_t capacity);
  void grow(std::uint32_t number);
  void split(std::uint32_t number);
  void point_to(std::uint32_t number);
  static void place(std::uint64_t* slots, std::uint32_t mask, std::uint64_t held);

  page_pool* pool_;
  std::vector<entry> entries_;
  std::vector<segment> segments_;
  std::uint32_t depth_ = 0;
  std::uint32_t shift_ = 32;
  std::uint64_t size_ = 0;
};

} // namespace headrace::state
