#pragma once

#include "apps/client/result_table.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headrace::client {

/// What of a terminal a table may take.
struct terminal_size {
  std::size_t lines = 24;
  std::size_t columns = 80;
};

/// A table on a terminal that is written over as its rows change. Pure: makes the bytes to write,
/// and knows what they left on the terminal.
class live_table {
public:
  /// What shows these rows in the place of what was shown last: the names, as many rows as there
  /// is room for, then how many more there are. Long lines are cut.
  /// @param more  rows beside these
  std::string draw(const std::vector<std::string>& names, const std::vector<text_row>& rows,
                   std::size_t more, const terminal_size& size);
  /// What takes the table away again.
  std::string clear();
  /// Rows that fit below the names.
  static std::size_t rows_max(const terminal_size& size);

private:
  std::size_t drawn_ = 0; ///< lines above the cursor
};

/// When a table is drawn again: at most ten times a second, and for a tenth of the time. Pure.
class drawing_pace {
public:
  bool is_due(std::int64_t now_us) const { return now_us >= next_us_; }
  void drawn(std::int64_t begun_us, std::int64_t ended_us);

private:
  std::int64_t next_us_ = 0;
};

} // namespace headrace::client
