#pragma once

#include "libactors/base/bytes.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace headrace::scheduler {

/// Keeps the rows that the subtasks of one collecting sink sent, until the client has fetched them.
/// Batches are numbered in the order of arrival. Subtasks are told what was taken, and send no more
/// than so much ahead; a bound of its own ends the job, rather than the process, if one does. Pure.
class collected_rows {
public:
  struct fetched {
    std::uint64_t next_offset = 0;
    std::vector<byte_string> batches;
    bool is_last = false; ///< no more will come, and all were given
  };
  /// Bytes of an attempt's batches that the client has.
  using taken_bytes = std::map<execution_attempt_id, std::uint64_t>;

  collected_rows(std::int32_t subtasks, std::uint64_t bytes_max)
      : subtasks_(subtasks), bytes_max_(bytes_max) {}

  /// Takes an event of a subtask; one with a sequence that came before is dropped (0: never).
  /// @errors memory_exceeded  more than `bytes_max` wait to be fetched
  status add(const execution_attempt_id& from, std::int64_t sequence,
             std::vector<byte_string> batches, bool is_last);
  /// The job has ended: what is here is all.
  void close() { is_closed_ = true; }
  /// Gives batches from `offset` on, about `bytes_max` at most; those before it are forgotten.
  fetched fetch(std::uint64_t offset, std::uint64_t bytes_max);
  bool is_drained() const { return batches_.empty(); }
  /// What may be told to the subtasks since the last call: dropped events count, too.
  taken_bytes take_taken() { return std::exchange(taken_, {}); }
  /// Whether a subtask gave rows that no checkpoint stands behind: when it starts anew without
  /// state, they come again, and the client has them.
  bool has_given_at_once(std::int32_t subtask) const { return at_once_.contains(subtask); }

private:
  struct kept_batch {
    execution_attempt_id from;
    byte_string rows;
  };
  std::int32_t subtasks_;
  std::uint64_t bytes_max_;
  std::uint64_t first_ = 0; // number of the first batch kept
  std::deque<kept_batch> batches_;
  std::uint64_t bytes_ = 0;
  std::map<std::int32_t, std::int64_t> sequences_;
  std::set<std::int32_t> done_;
  std::set<std::int32_t> at_once_;
  taken_bytes taken_;
  bool is_closed_ = false;
};

} // namespace headrace::scheduler
