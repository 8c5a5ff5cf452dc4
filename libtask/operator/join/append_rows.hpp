#pragma once

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/column.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace headrace::task {

/// In place of a row: there is none.
inline constexpr auto missing_row = std::numeric_limits<std::uint32_t>::max();

/// Goes over runs of rows that are missing, and of others: `see(run, is_missing)`.
template <class See>
void for_each_run(std::span<const std::uint32_t> rows, See see) {
  for (std::size_t i = 0; i < rows.size();) {
    const bool is_missing = rows[i] == missing_row;
    auto end = i + 1;
    while (end < rows.size() && (rows[end] == missing_row) == is_missing)
      ++end;
    see(rows.subspan(i, end - i), is_missing);
    i = end;
  }
}

inline void append_nulls(std::size_t count, graph::column_builder& to) {
  for (; count > 0; --count)
    to.append_null();
}

/// Appends rows of a column; NULL where one is missing.
inline void append_rows(const graph::column& from, std::span<const std::uint32_t> rows,
                        graph::column_builder& to) {
  for_each_run(rows, [&](std::span<const std::uint32_t> run, bool is_missing) {
    if (is_missing)
      append_nulls(run.size(), to);
    else
      to.append_from(from, run);
  });
}

} // namespace headrace::task
