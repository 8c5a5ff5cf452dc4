#pragma once

#include "libtask/operator/join/join_pairs.hpp"
#include "libtask/operator/join/join_rows.hpp"

#include <cstddef>
#include <optional>

namespace headrace::task {

/// Gives the rows of one space of an outer side that have matched nothing, with NULLs for the other
/// side, in pieces. On the subtask's mailbox only.
class unmatched_rows {
public:
  /// @param side    of `rows`: 0 left, 1 right
  /// @param other   an empty batch of the other side's type
  unmatched_rows(join_rows& rows, std::size_t side, graph::record_batch other)
      : rows_(&rows), side_(side), other_(std::move(other)) {}

  void begin(state::state_namespace space) {
    space_ = space;
    piece_.emplace(rows_->make_piece());
    key_ = 0;
    offset_ = 0;
  }
  /// @returns the next of them, perhaps none; `has_more` says whether to call again
  result<graph::record_batch> take(join_pairs& pairs, const drain_budget& budget, bool& has_more);

private:
  join_rows* rows_;
  std::size_t side_;
  graph::record_batch other_;
  state::state_namespace space_ = 0;
  std::optional<join_rows::piece> piece_;
  std::size_t key_ = 0;    ///< of the piece …
  std::size_t offset_ = 0; ///< … and where among its rows
};

} // namespace headrace::task
