#pragma once

#include "libgraph/sql/parse/statement_ast.hpp"

#include <string>
#include <string_view>

namespace headrace::sql {

// Write a tree as SQL on one line. What is parsed from it is equal to the tree, when that came from
// the parser. Views are kept as such texts, and EXPLAIN shows them.
std::string to_sql(const statement& from);
std::string to_sql(const query& from);
std::string to_sql(const expression& from);
std::string to_sql(const type_name& from);
std::string to_sql(const qualified_name& from);

} // namespace headrace::sql
