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

// Pieces of it, which casts to STRING use too.

/// Appends a decimal: `unscaled` / 10^scale, with all digits of the scale.
void format_decimal(int128 unscaled, int scale, std::string& out);
/// Appends the shortest text that reads back as the value, in Java's form: 1.0, 1.0E10, NaN.
void format_float(float value, std::string& out);
void format_double(double value, std::string& out);
/// Appends `2024-01-31`. Years beyond 9999 get a sign, as in ISO 8601.
void format_date(std::int32_t days, std::string& out);
/// Appends a time of day as ISO 8601: `12:00`, `12:00:01`, `12:00:01.500`.
void format_time(std::int32_t milliseconds, std::string& out);

} // namespace headrace::graph
