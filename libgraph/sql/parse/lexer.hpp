#pragma once

#include "libgraph/sql/parse/keyword.hpp"
#include "libgraph/sql/parse/source_text.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::sql {

enum class token_kind : std::uint8_t {
  end,
  name,           ///< a word without quotes; perhaps a keyword
  quoted_name,    ///< in backticks
  string,         ///< '…', _charset'…', N'…'
  unicode_string, ///< U&'…'
  binary_string,  ///< X'…'
  body,           ///< $$…$$
  integer,        ///< digits
  decimal,        ///< digits with a point
  approximate,    ///< with an exponent
  symbol,
  malformed, ///< what no token begins with; an error where a parser takes it
};

/// Symbols are written as their text; two letters are packed, the second one higher.
using symbol = std::uint32_t;
constexpr symbol make_symbol(char first, char second = 0, char third = 0) {
  return static_cast<symbol>(static_cast<unsigned char>(first)) |
         static_cast<symbol>(static_cast<unsigned char>(second)) << 8U |
         static_cast<symbol>(static_cast<unsigned char>(third)) << 16U;
}

struct token {
  token_kind kind = token_kind::end;
  kw::word keyword = kw::none; ///< of a name
  symbol sign = 0;             ///< of a symbol
  source_span at;
};

/// The tokens of a text, the last of which is the end. A value.
struct token_list {
  std::vector<token> tokens;
  /// For each '(' the index of its ')', or of the end when it has none; else 0.
  std::vector<std::uint32_t> closing;
};

/// Cuts a text into tokens. Comments are dropped; hints (`/*+` … `*/`) are tokens. Never fails:
/// what is no token becomes a malformed one, which `malformed_reason` explains.
///
/// @param text  at most 4 GiB
token_list tokenize(std::string_view text);

/// Says what is wrong with a malformed token.
std::string malformed_reason(std::string_view text, const token& bad);

/// The value of a name, without its backticks.
std::string name_value(std::string_view text, const token& from);
/// The value of a plain string: no quotes, doubled ones once.
std::string string_value(std::string_view text, const token& from);
/// What stands between the quotes of any string, doubled ones once.
std::string quoted_text(std::string_view quoted, char quote);
/// Replaces `\XXXX` and `\+XXXXXX` (with another letter than the backslash after UESCAPE) by the
/// code point; nothing when an escape is malformed.
std::optional<std::string> unescape_unicode(std::string_view text, char escape);

/// In quotes, those within doubled.
std::string quote(std::string_view text, char quote);
/// As the lexer reads it back as one name: in backticks where it has to be.
std::string quote_name(std::string_view name);

} // namespace headrace::sql
