#pragma once

#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

namespace headrace::scheduler {

/// Keeps the rows that the subtasks of one collecting sink sent, until the client has fetched them.
/// Batches are numbered in the order of arrival. Bounded: rows that nobody fetches end the job
/// rather than the process. Pure.
class collected_rows {
public:
  struct fetched {
    std::uint64_t next_offset = 0;
    std::vector<byte_string> batches;
    bool is_last = false; ///< no more will come, and all were given
  };

  collected_rows(std::int32_t subtasks, std::uint64_t bytes_max)
      : subtasks_(subtasks), bytes_max_(bytes_max) {}

  /// Takes an event of a subtask; one with a sequence that came before is dropped (0: never).
  /// @errors memory_exceeded  more than `bytes_max` wait to be fetched
  status add(std::int32_t subtask, std::int64_t sequence, std::vector<byte_string> batches,
             bool is_last);
  /// The job has ended: what is here is all.
  void close() { is_closed_ = true; }
  /// Gives batches from `offset` on, about `bytes_max` at most; those before it are forgotten.
  fetched fetch(std::uint64_t offset, std::uint64_t bytes_max);
  bool is_drained() const { return batches_.empty(); }

private:
  std::int32_t subtasks_;
  std::uint64_t bytes_max_;
  std::uint64_t first_ = 0; // number of the first batch kept
  std::deque<byte_string> batches_;
  std::uint64_t bytes_ = 0;
  std::map<std::int32_t, std::int64_t> sequences_;
  std::set<std::int32_t> done_;
  bool is_closed_ = false;
};

} // namespace headrace::scheduler
