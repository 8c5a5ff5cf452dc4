#pragma once

#include "libgraph/data/column.hpp"
#include "libgraph/sql/bind/bound_expression.hpp"
#include "libactors/base/result.hpp"

#include <string_view>

namespace headrace::sql {

/// The value of a literal: one row of the type.
/// @param zone  of the session: of TIMESTAMP_LTZ without an offset
/// @errors type_mismatch  a text that is no value of the type
result<graph::column_ptr> constant_value(const bound_constant& from, const logical_type& type,
                                         std::string_view zone);

} // namespace headrace::sql
