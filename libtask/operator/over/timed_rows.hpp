#pragma once

#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>

namespace headrace::task {

/// A row as the states of OVER keep it: its time (8 bytes), then its bytes with their length before
/// them.
struct timed_row {
  std::int64_t time_ms = 0;
  byte_view row;
};

inline void put_timed_row(const timed_row& row, byte_string& out) {
  byte_writer writer(out);
  writer.put(row.time_ms);
  writer.put_bytes(row.row);
}

/// The next of rows that were put one behind the other. @errors malformed_message
inline result<timed_row> read_timed_row(byte_reader& in) {
  timed_row out;
  HEADRACE_TRY(out.time_ms, in.get<std::int64_t>());
  HEADRACE_TRY(out.row, in.get_bytes());
  return out;
}

} // namespace headrace::task
