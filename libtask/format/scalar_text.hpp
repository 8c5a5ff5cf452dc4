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

/// Reads values of one scalar type; what depends on the type alone is decided once. The type
/// must outlive it. Not thread-safe.
class scalar_reader {
public:
  explicit scalar_reader(const graph::logical_type& type);

  const graph::logical_type& type() const { return *type_; }
  bool is_character() const { return kind_ == kind::text; }
  /// Parses `text` and appends it to `out`; spaces around are ignored but in strings. `shared`: the
  /// text lies in the buffer that `out` shares. Binary values are base64.
  /// @returns false, and nothing appended, when the text is no such value
  bool append(std::string_view text, bool shared, graph::column_builder& out) {
    switch (kind_) {
    case kind::text:
      if (shared)
        out.append_shared(text);
      else
        out.append_string(text);
      return true;
    case kind::bigint:
      return append_bigint(text, out);
    case kind::milliseconds:
      return append_milliseconds(text, out);
    case kind::other:
      break;
    }
    return append_other(text, out);
  }

private:
  enum class kind : std::uint8_t {
    text,
    bigint,
    milliseconds, ///< TIMESTAMP(3)
    other,
  };
  static bool append_bigint(std::string_view text, graph::column_builder& out);
  bool append_milliseconds(std::string_view text, graph::column_builder& out) const;
  bool append_other(std::string_view text, graph::column_builder& out);
  bool append_bytes(std::string_view text, graph::column_builder& out);

  const graph::logical_type* type_;
  kind kind_ = kind::other;
  std::string scratch_; ///< bytes of a binary value
};

/// Writes the value in `row`, which is not NULL, of a column of scalar type. Reads back as the
/// same.
void write_scalar(const graph::column& column, std::size_t row, timestamp_style style,
                  std::string& out);

/// Whether values of the type are one text: no list, map, row or NULL type.
bool is_scalar(const graph::logical_type& type);
/// Whether a scalar of the type is a character string.
bool is_character(const graph::logical_type& type);

} // namespace headrace::task
