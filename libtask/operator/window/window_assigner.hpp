#pragma once

#include "libgraph/data/record_batch.hpp"
#include "libgraph/spec/operator_spec.hpp"

#include <cstdint>
#include <vector>

namespace headrace::task {

/// Where the rows of one batch belong: `rows[i]` (a column row) to the window that starts at
/// `starts_ms[i]`. A row comes once a window. Reused from batch to batch.
struct window_assignment {
  std::vector<std::uint32_t> rows;
  std::vector<std::int64_t> starts_ms;
  /// The same for windows that have fired and still take rows (allowed lateness).
  std::vector<std::uint32_t> fired_rows;
  std::vector<std::int64_t> fired_starts_ms;
  /// Rows all of whose windows are gone.
  std::vector<std::uint32_t> late_rows;
};

/// Assigns rows to tumbling and sliding event-time windows, as Flink does: a window [start, start +
/// size) fires when the watermark reaches its last millisecond, and is gone when the watermark
/// reaches that plus the allowed lateness. Pure.
class window_assigner {
public:
  /// `window.kind` is tumbling or sliding, sizes are positive (`check_window`).
  explicit window_assigner(const graph::window_spec& window);

  /// `in` has timestamps.
  void assign(const graph::record_batch& in, std::int64_t watermark_ms,
              window_assignment& out) const;

  std::int64_t last_ms(std::int64_t start_ms) const { return start_ms + size_ms_ - 1; }
  std::int64_t end_ms(std::int64_t start_ms) const { return start_ms + size_ms_; }
  /// When the window's rows may be dropped; saturates.
  std::int64_t cleanup_ms(std::int64_t start_ms) const;

private:
  std::int64_t size_ms_;
  std::int64_t slide_ms_;
  std::int64_t offset_ms_;
  std::int64_t lateness_ms_;
};

/// @errors invalid_graph  a size, slide or lateness that makes no windows
status check_window(const graph::window_spec& window);

} // namespace headrace::task
