#pragma once

#include "libtask/operator/async/async_queue.hpp"
#include "libgraph/data/record_batch.hpp"
#include "libgraph/function/async_function.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace headrace::task {

/// Rows of one batch that are called for one after the other.
struct pending_rows {
  std::shared_ptr<const graph::record_batch> in; ///< kept by the rows in flight, too
  std::vector<std::uint32_t> rows;               ///< of the columns
  std::size_t at = 0;                            ///< those before have been called for
  std::int64_t behind_ms = graph::watermark::none;

  std::size_t size() const { return rows.size() - at; }
};

/// What came and has to wait for room: rows, and what is behind them. Pure.
class pending_input {
public:
  using control = async_queue::control;

  bool is_empty() const { return waiting_.empty(); }
  bool has_rows() const { return rows_ > 0; }
  /// @param behind_ms  the watermark before them
  void add(const graph::record_batch& in, std::int64_t behind_ms);
  void add(control what) { waiting_.emplace_back(what); }
  /// Adds rows out of a checkpoint, perhaps those of several subtasks, ahead of all that comes:
  /// each behind the watermark that it was behind, so that one which came too late does again.
  /// @param reached_ms  event time that all of those subtasks had reached; later watermarks come
  ///                    again, from elsewhere
  /// @returns the last watermark among them; `watermark::none`: there is none
  std::int64_t add_restored(const graph::restored_async_rows& restored, std::int64_t reached_ms);

  // --- from the front; only when there is something
  /// Null: a control is.
  pending_rows* front_rows() { return std::get_if<pending_rows>(&waiting_.front()); }
  control take_control();
  /// The first `count` of the rows at the front are called for.
  void drop_rows(std::size_t count);

  void append_rows(std::vector<graph::async_row>& out) const;

private:
  std::deque<std::variant<pending_rows, control>> waiting_;
  std::size_t rows_ = 0;
};

} // namespace headrace::task
