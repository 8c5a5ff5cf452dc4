#pragma once

#include "libgraph/expression/expression.hpp"
#include "libgraph/sql/bind/bound_expression.hpp"

#include <string_view>

namespace headrace::sql {

/// What tasks run of a bound expression: constants become values, fields of rows FIELD calls.
/// Aggregates have no such form: they are operators.
/// @param zone  of the session: of TIMESTAMP_LTZ literals without an offset
/// @errors type_mismatch  a literal that is no value of its type. Where: `at`, when given
/// @errors invalid_graph  an aggregate
result<graph::expression> translate_expression(const bound_expression& from, std::string_view zone,
                                               source_span* at = nullptr);

} // namespace headrace::sql
