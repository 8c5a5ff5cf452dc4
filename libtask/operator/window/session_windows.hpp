#pragma once

#include "libtask/operator/operator_context.hpp"
#include "libtask/operator/window/session_list.hpp"
#include "libtask/operator/window/window_time.hpp"
#include "libstate/timer/timer_service.hpp"
#include "libgraph/data/record_batch.hpp"
#include "libgraph/data/stream_element.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace headrace::task {

/// Finds the session of each row, by key and time, and tells the sessions that are over. What a
/// session holds beside its bounds is its user's: the operators that aggregate or keep rows by
/// sessions.
///
/// State: the session_list of each key, and timers. A timer stands at or before the end of each
/// session; one that comes too early, because rows have moved the end, is set anew.
class session_windows {
public:
  /// Takes a row into the sessions of its key.
  class user {
  public:
    virtual ~user() = default;
    /// Session `from` becomes part of session `into`, which began before it. Both lie in
    /// `sessions`.
    virtual status merge(session_list& sessions, std::size_t into, std::size_t from,
                         std::size_t index) = 0;
    /// Row `index` of the batch goes into a session.
    virtual status take(session_list& sessions, std::size_t session, std::size_t index) = 0;
    /// A session is over. @param row  of `due().keys`
    virtual status fire(session_list& sessions, std::size_t session, std::size_t row) = 0;
  };

  /// @param time_column  of the rows' time; not read with processing time
  session_windows(const graph::window_spec& window, std::int32_t time_column, window_time time,
                  std::size_t payload_bytes, const operator_context& context)
      : spec_(window), time_column_(static_cast<std::size_t>(time_column)), time_(std::move(time)),
        payload_bytes_(payload_bytes), clock_(context.time), metrics_(context.metrics) {}

  /// @param parts  what the bytes are of that a session holds
  status open(state::keyed_backend& backend, std::vector<graph::logical_type::field> parts);

  /// Somebody takes `late`: then they are not counted.
  void keep_late() { keeps_late_ = true; }
  /// Takes a batch, with its keys, row by row; late rows are counted and left out.
  status add(const graph::record_batch& rows, const state::key_batch& keys, user& by);
  /// Sessions that end by this time, in the domain of the windows, are over.
  void set_time(std::int64_t time_ms) { now_ms_ = time_ms; }
  std::optional<std::int64_t> next_processing_time_ms();
  /// Tells `by` about sessions that are over, of about as many keys. @returns whether all were told
  result<bool> fire(std::size_t keys_max, user& by);

  const state::due_timers& due() const { return *due_; }
  const window_time& time() const { return time_; }
  /// Column rows of the batch that was taken last which came too late.
  const std::vector<std::uint32_t>& late() const { return late_; }
  /// Rows of the batch that is being taken, by index.
  const std::vector<std::uint32_t>& rows() const { return rows_; }
  /// The places of these among the batch's selected rows.
  const std::vector<std::size_t>& places() const { return places_; }

private:
  std::int64_t last_instant_ms(std::int64_t end_ms) const { return time_.instant_ms(end_ms) - 1; }

  graph::window_spec spec_;
  std::size_t time_column_;
  window_time time_;
  std::size_t payload_bytes_;
  const headrace::clock& clock_;
  task_metrics& metrics_;
  state::keyed_table* table_ = nullptr;
  std::unique_ptr<state::timer_service> timers_;
  std::optional<state::due_timers> due_;
  std::int64_t now_ms_ = graph::watermark::none;
  // Kept for their memory.
  state::located_rows found_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::size_t> places_;
  std::vector<std::int64_t> times_ms_;
  std::vector<std::uint32_t> timer_rows_;
  std::vector<std::int64_t> timer_times_ms_;
  std::vector<std::uint32_t> empty_;
  std::vector<std::uint32_t> late_;
  bool keeps_late_ = false;
  byte_string sessions_;
};

} // namespace headrace::task
