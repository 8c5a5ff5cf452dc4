#pragma once

#include "libgraph/data/record_batch.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <vector>

namespace headrace::task {

/// A row as a join with versions keeps it: its time (8 bytes), its kind (1 byte), then its bytes
/// with their length before them. -D: from its time on there is none.
struct version_row {
  std::int64_t time_ms = 0;
  graph::row_kind kind = graph::row_kind::insert;
  byte_view row;
};

/// Appends a row.
void put_version_row(const version_row& row, byte_string& out);
/// Rows that were put one behind the other. @errors malformed_message
result<std::vector<version_row>> read_version_rows(byte_view from);

} // namespace headrace::task
