#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace headrace::task {

/// Rows that are emitted in pieces of a budget: what follows from a bundle may be more than a chain
/// takes at once. On the subtask's mailbox.
class piecewise_batch {
public:
  /// Nothing may be left of the rows before.
  void set(graph::record_batch rows) {
    rows_ = std::move(rows);
    next_ = 0;
  }
  bool is_empty() const { return rows_.is_empty(); }
  drain_result emit_some(operator_output& out, const drain_budget& budget) {
    // What a batch of the input gives is about twice as much, and goes as it is.
    const auto most = 2 * budget.rows_max;
    const auto count = std::min(rows_.size() - next_, most);
    if (count > 0)
      out.emit(count == rows_.size() ? rows_ : rows_.slice(next_, count));
    next_ += count;
    if (next_ < rows_.size())
      return drain_result::more;
    rows_ = {};
    next_ = 0;
    return drain_result::done;
  }

private:
  graph::record_batch rows_;
  std::size_t next_ = 0;
};

} // namespace headrace::task
