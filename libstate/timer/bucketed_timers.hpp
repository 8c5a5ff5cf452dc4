#pragma once

#include "libstate/timer/timer_service.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace headrace::state {

/// Timers in a table: namespace = start of a bucket of time, key = key, value = its times in that
/// bucket (8 bytes each, in no order).
///
/// The table alone is the truth. The first bucket is also held as a heap by time while it fires:
///
///     table    | bucket 0 | bucket 1024 | bucket 2048 | …
///                  │ load
///     heap      (time, key) …   smallest first; what the table no longer has is passed over
///
/// Buckets become wider when there are many with few timers each.
class bucketed_timers final : public timer_service {
public:
  bucketed_timers(keyed_table& table, const key_schema& schema, std::int32_t max_parallelism);
  /// Sorts restored timers into buckets of one width.
  status open() { return rebuild(); }

  status register_timer(const key_ref& key, std::int64_t time_ms) override;
  status delete_timer(const key_ref& key, std::int64_t time_ms) override;
  status register_timers(const key_batch& keys, std::span<const std::uint32_t> rows,
                         std::span<const std::int64_t> times_ms) override;
  status advance(std::int64_t time_ms, std::size_t rows_max, due_timers& out) override;
  std::optional<std::int64_t> next_time_ms() override;
  std::uint64_t size() const override { return size_; }
  due_timers make_due() const override { return due_timers(key_batch(schema_, max_parallelism_)); }

private:
  struct queued {
    std::int64_t time_ms;
    std::uint32_t key; ///< row of loaded_keys_
    /// Smallest first in a std heap.
    friend bool operator<(const queued& left, const queued& right) {
      return left.time_ms != right.time_ms ? left.time_ms > right.time_ms : left.key > right.key;
    }
  };
  state_namespace bucket_of(std::int64_t time_ms) const { return time_ms >> width_bits_; }
  status rebuild();
  status load(state_namespace bucket);
  void unload();
  status ensure_first_loaded();
  status widen_if_sparse();
  /// Takes queued timers out of the table: `taken[i]` tells whether it was there.
  status take_from_table(std::span<const queued> timers, std::vector<std::uint8_t>& taken);
  status take_whole_bucket(due_timers& out);
  void emit(const queued& timer, due_timers& out) const;

  keyed_table* table_;
  key_schema schema_;
  std::int32_t max_parallelism_;
  std::uint32_t width_bits_;
  std::uint64_t size_ = 0;
  std::uint64_t registrations_ = 0;
  std::optional<state_namespace> loaded_;
  bool is_exact_ = false; ///< the heap holds exactly what the table does
  std::vector<queued> heap_;
  key_batch loaded_keys_;
  // Kept for their memory.
  key_batch one_key_;
  key_batch taken_keys_;
  located_rows at_;
  std::vector<state_namespace> spaces_;
  std::vector<std::uint32_t> rows_;
  std::vector<queued> candidates_;
  std::vector<std::uint8_t> taken_;
};

} // namespace headrace::state
