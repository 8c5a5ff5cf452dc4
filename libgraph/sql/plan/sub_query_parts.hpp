#pragma once

#include "libgraph/sql/bind/bound_expression.hpp"
#include "libgraph/sql/parse/query_ast.hpp"
#include "libgraph/sql/plan/logical_plan.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// What queries inside expressions are made of and looked at by.
namespace headrace::sql {

/// Whether it names a column of the query around.
bool names_outer(const bound_expression& in);
/// Whether it names a column of the query itself.
bool names_own(const bound_expression& in);
/// Columns of the query around come first, then those of the sub-query.
void move_columns(bound_expression& in, std::size_t outer_width);

bound_expression call_of(std::string function, std::vector<bound_expression> arguments,
                         logical_type type, source_span at);
/// Both as what they have in common; nothing where they have nothing.
std::optional<bound_expression> comparison(std::string sign, bound_expression left,
                                           bound_expression right, source_span at);
/// Rows of a join come when the later of both sides comes.
void forget_times(std::vector<plan_column>& columns);

/// A select of whose rows each stands for one of FROM.
bool is_plain(const query& from);
/// An aggregate without GROUP BY: one row, whatever there is.
bool is_aggregate_row(const query& from);

} // namespace headrace::sql
