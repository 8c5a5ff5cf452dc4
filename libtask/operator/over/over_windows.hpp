#pragma once

#include "libgraph/data/record_batch.hpp"
#include "libgraph/job_graph/job_graph.hpp"
#include "libactors/base/bytes.hpp"

#include <cstddef>
#include <span>

namespace headrace::task {

/// The window of each row of a whole partition, one row after the other: SQL's frames with OVER.
/// Its bounds never go back. Pure.
class over_windows {
public:
  /// @param rows   those of a partition are [begin, end), in their order; outlive this
  /// @param order  by row, what it is ordered by; equal bytes: equal rows
  over_windows(const graph::over_spec& spec, const graph::record_batch& rows,
               std::span<const byte_view> order, std::size_t begin, std::size_t end);

  /// Goes to a row; the first one, then the next.
  void go_to(std::size_t row);
  /// The rows of the window are [low, high); none where it is not below.
  std::size_t low() const { return low_; }
  std::size_t high() const { return high_; }
  /// The rows that are equal to the current one in the order, which is among them.
  std::size_t first_equal() const { return first_equal_; }
  std::size_t behind_equal() const { return behind_equal_; }

private:
  std::size_t first_of(const graph::over_edge& edge, std::size_t row, std::size_t from) const;
  std::size_t behind(const graph::over_edge& edge, std::size_t row, std::size_t from) const;
  std::size_t moved(std::size_t row, std::int64_t by) const;
  /// Where a row's value stands to the bound of another one's window: negative before it.
  int compare(std::size_t row, const graph::over_edge& edge, std::size_t of) const;
  bool has_bound(const graph::over_edge& edge, std::size_t row) const;

  const graph::over_frame& frame_;
  const graph::record_batch& rows_;
  std::span<const byte_view> order_;
  std::size_t value_ = 0; ///< the first column of the order
  int sign_ = 1;
  std::size_t begin_;
  std::size_t end_;
  std::size_t begin_values_; ///< of rows whose value is not NULL
  std::size_t end_values_;
  std::size_t first_equal_;
  std::size_t behind_equal_;
  std::size_t low_;
  std::size_t high_;
};

} // namespace headrace::task
