#pragma once

#include "libtask/operator/stream_operator.hpp"
#include "libgraph/data/buffer.hpp"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace headrace::task {

/// Rows of a batch that came too late, on their way out by side output 0.
class late_rows {
public:
  /// @param row  of the columns of the batch at hand
  void add(std::uint32_t row) { rows_.push_back(row); }
  void add_all(const std::vector<std::uint32_t>& rows) {
    rows_.insert(rows_.end(), rows.begin(), rows.end());
  }
  /// Takes what was added from the batch, which may go then.
  void take_from(const graph::record_batch& batch) {
    if (rows_.empty())
      return;
    auto picked = graph::buffer::allocate(rows_.size() * sizeof(std::uint32_t));
    std::memcpy(picked->mutable_data(), rows_.data(), rows_.size() * sizeof(std::uint32_t));
    waiting_ = batch.with_selection(std::move(picked), rows_.size()).compact();
    rows_.clear();
  }
  void give(operator_output& out) {
    if (!waiting_.is_empty())
      out.emit_side(0, std::exchange(waiting_, {}));
  }

private:
  std::vector<std::uint32_t> rows_;
  graph::record_batch waiting_;
};

} // namespace headrace::task
