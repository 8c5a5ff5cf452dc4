#pragma once

#include <cstdint>

namespace headrace::state {

/// The key groups [first, end) that one subtask owns. A value.
struct key_group_range {
  std::uint32_t first = 0;
  std::uint32_t end = 0;

  std::uint32_t size() const { return end - first; }
  bool is_empty() const { return first >= end; }
  bool has(std::uint32_t group) const { return group >= first && group < end; }
  key_group_range intersection(key_group_range other) const {
    const auto low = first > other.first ? first : other.first;
    const auto high = end < other.end ? end : other.end;
    return low < high ? key_group_range{low, high} : key_group_range{};
  }
  friend bool operator==(const key_group_range&, const key_group_range&) = default;
};

/// Returns the range of one subtask by Flink's formula: ranges of all subtasks are disjoint and
/// cover [0, max_parallelism). Needs 0 <= subtask < parallelism <= max_parallelism.
key_group_range key_groups_of_subtask(std::uint32_t max_parallelism, std::uint32_t parallelism,
                                      std::uint32_t subtask);

} // namespace headrace::state
