#pragma once

#include <cstdint>
#include <span>

namespace headrace::graph {

/// Bounds of the maximum parallelism, which is the number of key groups.
inline constexpr std::int32_t max_parallelism_least = 128; ///< of the derived one
inline constexpr std::int32_t max_parallelism_most = 32768;

/// Key groups [first, end) of one subtask.
struct key_group_range {
  std::int32_t first = 0;
  std::int32_t end = 0;

  std::int32_t size() const { return end - first; }
  bool is_empty() const { return end <= first; }
  bool contains(std::int32_t group) const { return first <= group && group < end; }
  friend bool operator==(const key_group_range&, const key_group_range&) = default;
};

/// Returns the key group of a key's hash, in [0, max_parallelism). Fixed for ever. It mixes all
/// bits, so that the hashes of one group still differ in every bit and serve a hash table.
inline std::int32_t key_group_of(std::uint64_t hash, std::int32_t max_parallelism) {
  const auto mixed = (hash * 0x9e3779b97f4a7c15ULL) >> 32U;
  return static_cast<std::int32_t>((mixed * static_cast<std::uint64_t>(max_parallelism)) >> 32U);
}

/// Returns the subtask that owns a key group, as Flink does: group * parallelism / max_parallelism.
inline std::int32_t subtask_of(std::int32_t key_group, std::int32_t max_parallelism,
                               std::int32_t parallelism) {
  return static_cast<std::int32_t>(std::int64_t{key_group} * parallelism / max_parallelism);
}

/// Returns the key groups that `subtask_of` gives to a subtask.
inline key_group_range key_groups_of(std::int32_t subtask, std::int32_t max_parallelism,
                                     std::int32_t parallelism) {
  const auto first = [&](std::int64_t index) {
    return static_cast<std::int32_t>((index * max_parallelism + parallelism - 1) / parallelism);
  };
  return {first(subtask), first(std::int64_t{subtask} + 1)};
}

/// Derives the maximum parallelism as Flink does: the power of two at or above 1.5 times the
/// parallelism, within 128 and 32768.
std::int32_t default_max_parallelism(std::int32_t parallelism);

/// The subtask of each hash: what a hash partitioner asks. `out` is as long as `hashes`.
void subtasks_of(std::span<const std::uint64_t> hashes, std::int32_t max_parallelism,
                 std::int32_t parallelism, std::span<std::uint32_t> out);

} // namespace headrace::graph
