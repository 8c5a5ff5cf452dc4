#pragma once

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/types/digits.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
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
      return append_near(text, out) || append_milliseconds(text, out);
    case kind::integer:
    case kind::other:
      break;
    }
    return append_other(text, out);
  }
  /// The same for the digits of a BIGINT or INT at `at`, whose end is not known yet, in a text that
  /// goes on to `end`. @returns their end; null, and nothing appended, for `append` to tell
  const char* append_digits(const char* at, const char* end, graph::column_builder& out) const;

private:
  enum class kind : std::uint8_t {
    text,
    bigint,
    integer,      ///< INT
    milliseconds, ///< TIMESTAMP(3)
    other,
  };
  static bool append_bigint(std::string_view text, graph::column_builder& out);
  bool append_near(std::string_view text, graph::column_builder& out) const;
  bool append_milliseconds(std::string_view text, graph::column_builder& out);
  bool append_other(std::string_view text, graph::column_builder& out);
  bool append_bytes(std::string_view text, graph::column_builder& out);

  const graph::logical_type* type_;
  kind kind_ = kind::other;
  std::string scratch_; ///< bytes of a binary value
  bool has_minute_ = false;
  std::array<std::uint64_t, 2> minute_text_{}; ///< of the last time: "2024-02-29 12:34"
  std::int64_t minute_ = 0;                    ///< the same in milliseconds
};

inline const char* scalar_reader::append_digits(const char* at, const char* end,
                                                graph::column_builder& out) const {
  constexpr std::ptrdiff_t bytes_max = 18; // sign, digits, and what ends them
  if ((kind_ != kind::bigint && kind_ != kind::integer) || end - at < bytes_max)
    return nullptr;
  const bool negative = *at == '-';
  at += negative ? 1 : 0;
  const auto first = graph::leading_digits(graph::load_word(at));
  if (first.count == 0)
    return nullptr;
  auto value = static_cast<std::int64_t>(first.value);
  at += first.count;
  if (first.count == 8) {
    const auto next = graph::leading_digits(graph::load_word(at));
    if (next.count == 8)
      return nullptr;
    value = value * static_cast<std::int64_t>(graph::powers_of_ten_below_nine[next.count]) +
            static_cast<std::int64_t>(next.value);
    at += next.count;
  }
  if (*at == '.' || *at == 'e' || *at == 'E' || *at == '+' || *at == '-')
    return nullptr;
  value = negative ? -value : value;
  if (kind_ == kind::bigint) {
    out.append(value);
    return at;
  }
  if (value != static_cast<std::int32_t>(value))
    return nullptr;
  out.append(static_cast<std::int32_t>(value));
  return at;
}

/// Appends a time of the same minute as the last one, as most are.
inline bool scalar_reader::append_near(std::string_view text, graph::column_builder& out) const {
  constexpr std::size_t minute_bytes = 16;
  constexpr std::size_t second_bytes = 19;
  constexpr std::size_t bytes_max = 23; // with milliseconds
  if (text.size() < second_bytes || text.size() > bytes_max)
    return false;
  const auto* at = text.data();
  if (!has_minute_ || graph::load_word(at) != minute_text_[0] ||
      graph::load_word(at + 8) != minute_text_[1])
    return false;
  const auto tens = static_cast<unsigned>(at[minute_bytes + 1] - '0');
  const auto ones = static_cast<unsigned>(at[minute_bytes + 2] - '0');
  if (at[minute_bytes] != ':' || tens > 5 || ones > 9)
    return false;
  auto value = minute_ + (tens * 10 + ones) * 1000;
  if (text.size() > second_bytes) {
    unsigned unit = 100;
    if (at[second_bytes] != '.' || text.size() == second_bytes + 1)
      return false;
    for (auto i = second_bytes + 1; i < text.size(); ++i, unit /= 10) {
      const auto digit = static_cast<unsigned>(at[i] - '0');
      if (digit > 9)
        return false;
      value += digit * unit;
    }
  }
  out.append(value);
  return true;
}

/// Writes the value in `row`, which is not NULL, of a column of scalar type. Reads back as the
/// same.
void write_scalar(const graph::column& column, std::size_t row, timestamp_style style,
                  std::string& out);

/// Whether values of the type are one text: no list, map, row or NULL type.
bool is_scalar(const graph::logical_type& type);
/// Whether a scalar of the type is a character string.
bool is_character(const graph::logical_type& type);

} // namespace headrace::task
