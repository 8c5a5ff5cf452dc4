#pragma once

#include "libtask/operator/window/window_time.hpp"
#include "libstate/backend/keyed_backend.hpp"
#include "libgraph/data/record_batch.hpp"
#include "libgraph/data/stream_element.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace headrace::task {

/// The windows of rows that carry their end in a column, in milliseconds as clocks tell it: it is
/// the namespace of their state. Says which rows are late, and which window is over.
///
///     pick …                      (as rows come)
///     set_time begin scan … drop  (as time passes, until `begin` says that none is over)
///
/// On the subtask's mailbox only.
class ended_windows {
public:
  ended_windows(window_time time, std::int32_t end_column)
      : time_(std::move(time)), end_column_(static_cast<std::size_t>(end_column)) {}

  // --- as rows come
  /// Notes the rows of a batch.
  /// @param takes_late  also those whose window is over
  void pick(const graph::record_batch& rows, bool takes_late = false);
  /// Those with a window that is not over, as rows of the batch's columns.
  const std::vector<std::uint32_t>& rows() const { return rows_; }
  /// The windows of `rows`, one by one.
  const std::vector<state::state_namespace>& spaces() const { return spaces_; }
  /// The others.
  const std::vector<std::uint32_t>& late() const { return late_; }
  /// `rows` alone. @param from  the batch that was picked from
  graph::record_batch picked(const graph::record_batch& from) const;

  // --- as time passes
  /// Windows whose last millisecond is not behind this time are over.
  void set_time(std::int64_t time_ms) { time_ms_ = time_ms; }
  /// When the first window of a state is over; nothing: there is none.
  std::optional<std::int64_t> first_over_ms(const state::keyed_table& of) const;
  /// Goes to the first window that is over, unless one is at hand. @returns whether one is
  bool begin(const state::keyed_table& of);
  /// The end of the window at hand, as its namespace has it.
  std::int64_t end() const { return *at_hand_; }
  /// Its last millisecond, an instant.
  std::int64_t last_ms() const { return last_ms_of(*at_hand_); }
  /// Reads the next keys of the window at hand.
  status scan(state::keyed_table& of, std::size_t keys_max, state::scanned_rows& into) {
    return of.scan(*at_hand_, cursor_, keys_max, into);
  }
  /// Whether all of them were read.
  bool is_read() const { return cursor_.done; }
  /// Removes the window at hand.
  status drop(state::keyed_table& of);

private:
  std::int64_t last_ms_of(std::int64_t end) const { return time_.instant_ms(end) - 1; }

  window_time time_;
  std::size_t end_column_;
  std::int64_t time_ms_ = graph::watermark::none;
  std::optional<state::state_namespace> at_hand_;
  state::scan_cursor cursor_;
  // Of the batch at hand, kept from one to the next so that nothing is allocated per row.
  std::vector<std::uint32_t> rows_;
  std::vector<std::uint32_t> late_;
  std::vector<state::state_namespace> spaces_;
};

} // namespace headrace::task
