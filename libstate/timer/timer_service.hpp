#pragma once

#include "libstate/backend/keyed_backend.hpp"
#include "libgraph/function/function.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace headrace::state {

/// Timers that are due, in order of time; row for row with their keys. Reused.
struct due_timers {
  explicit due_timers(key_batch empty) : keys(std::move(empty)) {}
  key_batch keys;
  std::vector<std::int64_t> times_ms;
  std::size_t size() const { return times_ms.size(); }
};

/// The timers of one keyed operator in one time domain: a set of (key, time), kept as keyed state
/// in buckets of time, so snapshots and rescaling come with the backend.
///
/// On the subtask's mailbox only.
class timer_service {
public:
  virtual ~timer_service() = default;

  /// Registers a timer; the same (key, time) again changes nothing. A time that has passed is due
  /// at the next `advance`.
  virtual status register_timer(const key_ref& key, std::int64_t time_ms) = 0;
  /// Removes a timer; one that is not there is no error.
  virtual status delete_timer(const key_ref& key, std::int64_t time_ms) = 0;
  /// A whole batch at once, `times_ms` parallel to `rows`.
  virtual status register_timers(const key_batch& keys, std::span<const std::uint32_t> rows,
                                 std::span<const std::int64_t> times_ms) = 0;

  /// Takes up to `rows_max` timers with a time of at most `time_ms` out of the service, smallest
  /// time first (order among equal times is not specified, but repeatable). Fewer than `rows_max`
  /// means: no more are due. Timers registered between two calls take part in the next one.
  virtual status advance(std::int64_t time_ms, std::size_t rows_max, due_timers& out) = 0;

  /// The smallest registered time. What the task sets its processing-time alarm to.
  virtual std::optional<std::int64_t> next_time_ms() = 0;
  virtual std::uint64_t size() const = 0;
  virtual due_timers make_due() const = 0;
};

/// Opens the timers of a domain over a backend (restored ones included); `name` keeps several
/// services of one operator apart. The backend lives longer.
/// @errors incompatible_state
result<std::unique_ptr<timer_service>> open_timer_service(keyed_backend& backend,
                                                          graph::time_domain domain,
                                                          std::string_view name = "timers");

} // namespace headrace::state
