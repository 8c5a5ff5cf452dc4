#pragma once

#include "libgraph/spec/operator_spec.hpp"

#include <cstdint>

namespace headrace::scheduler {

/// Which subtasks of the producing vertex exchange rows with which of the consuming one.
enum class distribution_pattern : std::uint8_t {
  all_to_all,
  pointwise, ///< each subtask meets only its neighbours: forward and rescale
};
distribution_pattern pattern_of(graph::partitioner_kind partitioner);

/// A range of subtasks [first, last).
struct subtask_range {
  std::int32_t first = 0;
  std::int32_t last = 0;
  std::int32_t size() const { return last - first; }
  friend bool operator==(const subtask_range&, const subtask_range&) = default;
};

/// An edge between vertices of `producers` and `consumers` subtasks (each at least 1). All calls
/// agree with Flink's distribution patterns.
///
///     pointwise, 4 → 2         pointwise, 2 → 4         all to all, 2 → 2
///     p0 ─┬─ c0                p0 ─┬─ c0  (sub 0)       p0 ─┬── c0  (sub 0)
///     p1 ─┘                        └─ c1  (sub 1)           ╳
///     p2 ─┬─ c1                p1 ─┬─ c2  (sub 0)       p1 ─┴── c1  (sub 1)
///     p3 ─┘                        └─ c3  (sub 1)
struct distribution {
  distribution_pattern pattern = distribution_pattern::all_to_all;
  std::int32_t producers = 1;
  std::int32_t consumers = 1;

  /// The producers that a consumer reads, in the order of its gate's channels.
  subtask_range producers_of(std::int32_t consumer) const;
  /// The consumers of a producer, in the order of its subpartitions.
  subtask_range consumers_of(std::int32_t producer) const;
  /// Which subpartition of each of its producers a consumer reads.
  std::int32_t subpartition_of(std::int32_t consumer) const;
};

} // namespace headrace::scheduler
