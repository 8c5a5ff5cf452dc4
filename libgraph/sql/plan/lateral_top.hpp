#pragma once

#include "libgraph/sql/bind/bound_expression.hpp"
#include "libgraph/sql/parse/query_ast.hpp"

#include <optional>
#include <vector>

// LATERAL (SELECT … FROM b WHERE b.k = a.k ORDER BY … LIMIT n): the first rows of b for each k, by
// ranks, which are then joined.
namespace headrace::sql {

/// Whether a query is one of the first rows in an order, of rows that each stand for one of FROM.
bool is_top(const query& from);

/// The query of all its rows, with what they are ordered by behind the items.
query with_order_behind(const query& from);

/// What the rows of the query have to be equal to: the query's own side of each condition; nothing
/// where one is no equality of both sides.
std::optional<std::vector<bound_expression>>
find_tied(const std::vector<bound_expression>& correlations);

} // namespace headrace::sql
