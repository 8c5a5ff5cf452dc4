#pragma once

#include "libgraph/data/batch_builder.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace headrace::graph {

/// Where a function appends what it emits: one builder for the main output, one a side output.
/// Filled by the function, emptied by the operator between calls. Lives on the subtask's mailbox.
class function_output {
public:
  /// `rows_max` and `bytes_max` bound one piece, over all builders together.
  function_output(batch_builder& main, std::span<batch_builder> sides, std::size_t rows_max,
                  std::size_t bytes_max)
      : main_(&main), sides_(sides), rows_max_(rows_max), bytes_max_(bytes_max) {}

  batch_builder& main() { return *main_; }
  batch_builder& side(std::size_t tag) { return sides_[tag]; }
  std::size_t side_count() const { return sides_.size(); }

  /// The piece is large enough: a resumable function returns soon. Call between rows.
  bool is_full() const {
    std::size_t rows = main_->size();
    std::size_t bytes = main_->size_bytes();
    for (const auto& side : sides_) {
      rows += side.size();
      bytes += side.size_bytes();
    }
    return rows >= rows_max_ || bytes >= bytes_max_;
  }
  std::size_t main_size() const { return main_->size(); }
  std::size_t rows_max() const { return rows_max_; }

private:
  batch_builder* main_;
  std::span<batch_builder> sides_;
  std::size_t rows_max_;
  std::size_t bytes_max_;
};

} // namespace headrace::graph
