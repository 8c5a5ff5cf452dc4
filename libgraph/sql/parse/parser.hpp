#pragma once

#include "libgraph/sql/parse/statement_ast.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace headrace::sql {

namespace limits {
constexpr std::size_t text_bytes_max = std::size_t{16} << 20U; ///< of a script
constexpr int nesting_max = 100;         ///< of what stands in brackets, as the parser recurses
constexpr int tree_height_max = 800;     ///< of a statement's tree, chains of operators included
constexpr std::size_t findings_max = 20; ///< reported of a script
} // namespace limits

/// What became of a text. Where there are findings, `value` holds what is sound beside them.
template <class T>
struct parsed {
  T value;
  std::vector<diagnostic> findings; ///< in the order of the text; empty: all is well
  bool is_sound() const { return findings.empty(); }
};

struct script {
  std::vector<statement> statements;
  friend bool operator==(const script&, const script&) = default;
};

/// Reads a script: statements with ';' between them. After an error it goes on behind the next ';',
/// so that the errors of several statements are reported together, one a statement.
parsed<script> parse_script(std::string_view text);

/// Reads one statement, perhaps with a ';'; nothing when there is an error.
parsed<std::optional<statement>> parse_statement(std::string_view text);
/// Reads a query alone, as a view's text is.
/// @param view  of a view's query: what its spans say, see source_span
parsed<std::optional<query>> parse_query(std::string_view text, std::uint32_t view = 0);
/// Reads an expression alone, as that of a computed column.
parsed<std::optional<expression>> parse_expression(std::string_view text);
/// Reads a type alone: "ROW<a INT NOT NULL, b STRING ARRAY>".
parsed<std::optional<type_name>> parse_type(std::string_view text);

} // namespace headrace::sql
