#pragma once

#include "libgraph/data/row_view.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace headrace::graph {

/// Appends the text of a row kind: "+I", "-U", "+U" or "-D".
void format_kind(row_kind kind, std::string& out);

/// Appends a row as the print sink writes it: `+I[hello, 1]`.
void format_row(const row_view& row, std::string& out);
std::string to_string(const row_view& row);

/// Appends one value as the print sink writes it: NULL as `null`, TRUE as `true`, 1.5E10 as Java
/// does, timestamps as `2024-01-31T12:00:00.123` (with `Z` when they name an instant), BYTES as
/// `[1, -2]`, arrays as `[1, 2]`, maps and multisets as `{a=1}`, rows as `+I[1, 2]`.
void format_value(const column& values, std::size_t row, std::string& out);

} // namespace headrace::graph
