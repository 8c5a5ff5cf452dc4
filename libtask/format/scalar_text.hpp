#pragma once

#include "libgraph/data/batch_builder.hpp"

#include <string>
#include <string_view>

namespace headrace::task {

/// How timestamps are written. Both are read.
enum class timestamp_style : std::uint8_t {
  sql,      ///< 2024-02-29 12:34:56.789, with zone: …Z
  iso_8601, ///< 2024-02-29T12:34:56.789, with zone: …Z
};

/// Parses `text` as a value of scalar type `type` and appends it to `out`; spaces around are
/// ignored but in strings. `shared`: the text lies in the buffer that `out` shares. Binary values
/// are base64.
/// @returns false, and nothing appended, when the text is no such value
bool append_scalar(const graph::logical_type& type, std::string_view text, bool shared,
                   graph::column_builder& out);

/// Writes the value in `row`, which is not NULL, of a column of scalar type. Reads back as the
/// same.
void write_scalar(const graph::column& column, std::size_t row, timestamp_style style,
                  std::string& out);

/// Whether values of the type are one text: no list, map, row or NULL type.
bool is_scalar(const graph::logical_type& type);
/// Whether a scalar of the type is a character string.
bool is_character(const graph::logical_type& type);

} // namespace headrace::task
