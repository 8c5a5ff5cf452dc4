#pragma once

#include "libtask/operator/async/async_queue.hpp"
#include "libgraph/function/async_function.hpp"
#include "libgraph/spec/operator_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

namespace headrace::task {

/// Which calls are awaited for rows, how often and until when: timeouts and retries. Pure: is told
/// the time, wall-clock milliseconds.
class async_calls {
public:
  using place = async_queue::place;

  explicit async_calls(const graph::async_wait_spec& spec)
      : timeout_ms_(spec.timeout_ms), retry_(spec.retry) {}

  /// The first call for a row that comes to a free place.
  graph::async_call begin(place at, std::int64_t now_ms);
  /// Another one, in place of what was awaited.
  graph::async_call call_again(place at);
  /// The call that is awaited for a row; nothing: it waits to be called for again.
  std::optional<graph::async_call> awaited(place at) const;
  /// The row of a call; nothing: that is not awaited any more.
  std::optional<place> find(graph::async_call call) const;
  /// A call has ended so that another one is wanted. @returns false: there is none for this row
  bool try_again(place at, std::int64_t now_ms);
  /// Nothing more is awaited for a row.
  void finish(place at);
  /// Calls for the row so far.
  std::int32_t call_count(place at) const { return rows_[at].calls; }

  /// When `pass` is wanted next. It may find nothing to do.
  std::optional<std::int64_t> next_ms();
  /// Time has come so far. @param timed_out  rows whose time is over, told once
  /// @param again  rows to be called for again
  void pass(std::int64_t now_ms, std::vector<place>& timed_out, std::vector<place>& again);

  /// Deadlines that are kept, some of them of rows that have left.
  std::size_t deadline_count() const { return deadlines_.size(); }

private:
  struct row {
    std::uint64_t number = 0;   ///< of the row; 0: nothing is awaited
    graph::async_call call = 0; ///< 0: it waits to be called for again
    std::int32_t calls = 0;
    bool is_timed_out = false;
  };
  /// Something that is due for a row, if that is still there.
  struct due {
    std::int64_t time_ms = 0;
    std::uint64_t number = 0;
    place at = 0;
    friend bool operator>(const due& a, const due& b) {
      return std::pair(a.time_ms, a.number) > std::pair(b.time_ms, b.number);
    }
  };
  bool is_there(const due& what) const { return rows_[what.at].number == what.number; }
  std::int64_t delay_ms(std::int32_t attempt) const;
  void forget_deadlines();

  std::int64_t timeout_ms_;
  graph::async_retry_spec retry_;
  std::vector<row> rows_; ///< by place
  std::size_t there_ = 0;
  std::uint64_t next_number_ = 1;
  std::uint64_t next_call_ = 1;
  std::deque<due> deadlines_; ///< as rows came, so by time
  std::optional<std::int64_t> armed_ms_;
  std::priority_queue<due, std::vector<due>, std::greater<>> retries_;
};

} // namespace headrace::task
