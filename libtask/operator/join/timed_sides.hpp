#pragma once

#include "libtask/operator/join/join_pairs.hpp"
#include "libtask/operator/join/join_rows.hpp"
#include "libtask/operator/join/unmatched_rows.hpp"
#include "libtask/operator/stream_operator.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace headrace::task {

/// What joins by time have in common: rows of both sides by key and space, which are spaces of
/// time.
struct timed_sides {
  timed_sides(const graph::operator_node& node, const operator_context& context,
              join_pairs pairs_of_both);
  timed_sides(const timed_sides&) = delete;
  timed_sides& operator=(const timed_sides&) = delete;

  status open(const operator_states& states);
  /// Takes keys and times of a batch.
  void begin(std::size_t input, const graph::record_batch& rows);
  const std::vector<std::int32_t>& key_columns(std::size_t of) const {
    return (of == 0 ? spec.join.left : spec.join.right).key_columns;
  }
  /// Event-time milliseconds of a selected row of the batch; nothing: NULL.
  std::optional<std::int64_t> time_of(std::size_t index) const;
  /// Adds rows of the batch to its side; `encoded` of each is filled here.
  status store(std::vector<join_rows::change>& changes, const std::vector<std::size_t>& indices);

  graph::timed_join_spec spec;
  state::key_schema schema;
  state::key_batch keys;
  const headrace::clock& time;
  task_metrics& metrics;
  std::array<join_rows, 2> rows;
  join_pairs pairs;
  std::array<unmatched_rows, 2> unmatched;
  std::int64_t watermark_ms = graph::watermark::none;

  // Of the batch at hand.
  std::size_t side = 0;
  graph::record_batch in;
  std::vector<std::uint32_t> lookups; ///< column rows that may match
  std::vector<std::uint32_t> places;  ///< by selected row: in `lookups`

private:
  std::array<std::vector<int>, 2> all_columns_;
  graph::encoded_keys encoded_;
};

result<std::unique_ptr<stream_operator>> make_window_join(const graph::operator_node& node,
                                                          const operator_context& context,
                                                          join_pairs pairs);
result<std::unique_ptr<stream_operator>> make_version_join(const graph::operator_node& node,
                                                           const operator_context& context,
                                                           join_pairs pairs);
result<std::unique_ptr<stream_operator>> make_interval_join(const graph::operator_node& node,
                                                            const operator_context& context,
                                                            join_pairs pairs);

} // namespace headrace::task
