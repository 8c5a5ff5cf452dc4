#pragma once

#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headrace::task {

/// A row as `waiting` keeps it of a pattern: its time (8 bytes), then, each with its length before
/// it, what it is ordered by among rows of that time, and its bytes. None of both: something is due
/// at that time.
struct waiting_match_row {
  std::int64_t time_ms = 0;
  byte_view order;
  byte_view row;
};

inline void put_match_row(const waiting_match_row& row, byte_string& out) {
  byte_writer writer(out);
  writer.put(row.time_ms);
  writer.put_bytes(row.order);
  writer.put_bytes(row.row);
}

/// The next of rows that were put one behind the other. @errors malformed_message
inline result<waiting_match_row> read_match_row(byte_reader& in) {
  waiting_match_row out;
  HEADRACE_TRY(out.time_ms, in.get<std::int64_t>());
  HEADRACE_TRY(out.order, in.get_bytes());
  HEADRACE_TRY(out.row, in.get_bytes());
  return out;
}

/// A key's matches that have begun: the digest of pattern and rows (8 bytes), the time at which
/// something is due (8 bytes), the number of rows (varint), each with its time (8 bytes) and its
/// length before it, then the matches (`pattern_matches`).
struct begun_matches {
  std::uint64_t digest = 0;
  std::int64_t deadline_ms = 0;
  std::vector<std::int64_t> times_ms; ///< of the rows
  std::vector<byte_view> rows;
  byte_view matches;
};

/// What is before the rows: of `rows` of them.
inline void put_begun_head(std::uint64_t digest, std::int64_t deadline_ms, std::size_t rows,
                           byte_string& out) {
  byte_writer writer(out);
  writer.put(digest);
  writer.put(deadline_ms);
  writer.put_varint(rows);
}
inline void put_begun_row(std::int64_t time_ms, byte_view row, byte_string& out) {
  byte_writer writer(out);
  writer.put(time_ms);
  writer.put_bytes(row);
}
/// @param into  replaced; kept for its memory. @errors malformed_message
inline status read_begun(byte_view from, begun_matches& into) {
  byte_reader in(from);
  into.times_ms.clear();
  into.rows.clear();
  HEADRACE_TRY(into.digest, in.get<std::uint64_t>());
  HEADRACE_TRY(into.deadline_ms, in.get<std::int64_t>());
  HEADRACE_TRY(const auto count, in.get_varint());
  for (std::uint64_t i = 0; i < count; ++i) {
    HEADRACE_TRY(const auto time_ms, in.get<std::int64_t>());
    HEADRACE_TRY(const auto row, in.get_bytes());
    into.times_ms.push_back(time_ms);
    into.rows.push_back(row);
  }
  into.matches = from.substr(from.size() - in.remaining());
  return {};
}

} // namespace headrace::task
