#pragma once

#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <vector>

namespace headrace::task {

/// A row as a sort of windows keeps it: size of its key (4 bytes), size of the row (4), key, row.
/// The order of the keys' bytes is that of the rows.
struct sorted_row {
  byte_view key;
  byte_view row;
};

inline void put_sorted_row(const sorted_row& row, byte_string& out) {
  byte_writer writer(out);
  writer.put(static_cast<std::uint32_t>(row.key.size()));
  writer.put(static_cast<std::uint32_t>(row.row.size()));
  writer.put_raw(row.key);
  writer.put_raw(row.row);
}

/// Rows that were put one behind the other. @errors malformed_message
inline result<std::vector<sorted_row>> read_sorted_rows(byte_view from) {
  std::vector<sorted_row> out;
  byte_reader in(from);
  while (!in.at_end()) {
    sorted_row each;
    HEADRACE_TRY(const auto key, in.get<std::uint32_t>());
    HEADRACE_TRY(const auto row, in.get<std::uint32_t>());
    HEADRACE_TRY(each.key, in.get_raw(key));
    HEADRACE_TRY(each.row, in.get_raw(row));
    out.push_back(each);
  }
  return out;
}

} // namespace headrace::task
