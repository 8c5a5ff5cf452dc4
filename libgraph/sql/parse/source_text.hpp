#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::sql {

/// A piece of a script: bytes [begin, end), and where it begins for a reader. Lines and columns
/// count from 1, columns in code points. Line 0 is a piece that no text has.
///
/// All spans are equal: two trees are equal when they say the same, wherever they stand.
struct source_span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t view = 0; ///< whose text it is in: the place in `view_texts` from 1; 0: the script

  bool is_known() const { return line != 0; }
  friend bool operator==(const source_span&, const source_span&) { return true; }
};

/// From the beginning of `first` to the end of `last`.
constexpr source_span join(source_span first, source_span last) {
  return {first.begin, last.end > first.begin ? last.end : first.end, first.line, first.column,
          first.view};
}

enum class diagnostic_kind : std::uint8_t {
  syntax,
  unknown_name,   ///< of a table, column, function, type
  ambiguous_name, ///< more than one fits
  duplicate_name,
  type_mismatch,
  invalid,     ///< each part is right, the whole has no meaning
  unsupported, ///< has a meaning in the dialect that cannot be run
  too_large,   ///< a limit on size or nesting
};

/// What is wrong with a script, and where. The message's fixed words come first.
struct diagnostic {
  diagnostic_kind kind = diagnostic_kind::syntax;
  std::string message;
  source_span at;
  // Of what is wrong within a view, by `name_views`:
  std::string view = {}; ///< its name
  std::string text = {}; ///< and its query, in which `at` is
  friend bool operator==(const diagnostic&, const diagnostic&) = default;
};

/// A view that a statement reads.
struct view_text {
  std::string name;
  std::string text;
};
using view_texts = std::vector<view_text>;

/// Tells findings whose places are in the texts of views which these are.
void name_views(std::vector<diagnostic>& findings, const view_texts& views);

/// The line that a span begins in, with a caret under it:
///
///     3 | SELECT a, FROM t
///       |           ^^^^
///
/// A long line is cut around the caret; tabs are shown as spaces. Empty for an unknown span.
std::string excerpt(std::string_view text, source_span at);

/// "line 3, column 11: message" and the excerpt below it; "in view v, line 1, …" with the view's.
std::string to_string(const diagnostic& finding, std::string_view text);
/// One below the other, in the order of the text.
std::string to_string(const std::vector<diagnostic>& findings, std::string_view text);

/// The length of the code point at `at`, 1 to 4 bytes; 0 when the bytes are no UTF-8.
std::size_t code_point_bytes(std::string_view text, std::size_t at);

} // namespace headrace::sql
