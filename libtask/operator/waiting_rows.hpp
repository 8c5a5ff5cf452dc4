#pragma once

#include "libstate/backend/keyed_backend.hpp"
#include "libgraph/data/record_batch.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace headrace::task {

/// Entries of keys that wait until time has passed them: in the keyed state `waiting`, whose
/// namespaces are buckets of 1,024 ms, one value a key. What an entry is, its operator knows: it
/// writes entries one behind the other, and when they are due it says which bytes are left.
///
///     pick, add …   (as rows come)
///     next { bytes, leave … } finish   (as time passes, until `finish` says that it is enough)
///
/// On the subtask's mailbox only.
class waiting_rows {
public:
  /// @param keys_a_time  that `next` reads at most
  explicit waiting_rows(std::size_t keys_a_time) : keys_a_time_(keys_a_time) {}
  /// @param type  of the rows that wait
  status open(state::keyed_backend& backend, const graph::logical_type& type);

  // --- as rows come
  /// Notes the rows of a batch with their times, but for those up to `late_until_ms`; nothing: all.
  /// A NULL time is before all others. @returns how many are late
  std::uint64_t pick(const graph::record_batch& rows, std::size_t time_column,
                     std::optional<std::int64_t> late_until_ms);
  /// Stores an entry for each row that was picked.
  ///
  /// @param write  called as write(place among the selected rows, time, bytes to append to)
  template <class Write>
  status add(const state::key_batch& keys, Write write) {
    return add(keys, rows_, times_ms_,
               [&](std::size_t i, byte_string& to) { write(places_[i], times_ms_[i], to); });
  }
  /// The same of any keys. @param write  called as write(index, bytes to append to)
  template <class Write>
  status add(const state::key_batch& keys, std::span<const std::uint32_t> rows,
             std::span<const std::int64_t> times_ms, Write write) {
    if (rows.empty())
      return {};
    HEADRACE_CHECK(locate(keys, rows, times_ms));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      entry_.clear();
      write(i, entry_);
      HEADRACE_CHECK(table_->append(found_, i, entry_));
    }
    return table_->write_back(found_);
  }

  // --- as time passes
  /// When the oldest bucket is over; nothing: nothing waits.
  std::optional<std::int64_t> first_over_ms() const;
  /// Reads some keys of the oldest bucket. @returns false: none has begun by `passed_ms`
  result<bool> next(std::int64_t passed_ms);
  /// Of the keys at hand, until the next `next`.
  std::size_t size() const { return bytes_.size(); }
  const state::key_batch& keys() const { return piece_->keys; }
  /// All entries of a key that wait in the bucket.
  byte_view bytes(std::size_t index) const { return bytes_[index]; }
  /// Time has come to here: entries of the bucket beyond it wait on, and later buckets too.
  std::int64_t limit_ms() const { return limit_ms_; }
  /// What of a key waits on; of one that is not named all does.
  void leave(std::uint32_t index, byte_string rest);
  /// Stores what is left. @returns whether more may be due
  result<bool> finish();

private:
  status locate(const state::key_batch& keys, std::span<const std::uint32_t> rows,
                std::span<const std::int64_t> times_ms);
  status store_rest();

  std::size_t keys_a_time_;
  state::keyed_table* table_ = nullptr;
  std::optional<state::state_namespace> bucket_; ///< at hand
  bool is_whole_ = false;                        ///< time has passed all of it
  std::int64_t limit_ms_ = 0;
  state::scan_cursor cursor_;
  std::optional<state::scanned_rows> piece_;
  std::vector<byte_string> bytes_; ///< copies: the table changes while they are read
  std::vector<std::uint32_t> changed_;
  std::vector<byte_string> rest_;
  // Of rows that come; kept so that nothing is allocated per row.
  std::vector<std::uint32_t> rows_;
  std::vector<std::size_t> places_;
  std::vector<std::int64_t> times_ms_;
  std::vector<state::state_namespace> spaces_;
  std::vector<std::uint32_t> erased_;
  state::located_rows found_;
  byte_string entry_;
};

} // namespace headrace::task
