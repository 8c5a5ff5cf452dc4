#pragma once

#include "libgraph/data/column.hpp"
#include "libgraph/sql/bind/bound_expression.hpp"
#include "libactors/base/result.hpp"

#include <optional>
#include <string_view>

namespace headrace::sql {

/// Months, or milliseconds, of an interval's text: "1-2" of YEAR TO MONTH, "1 02:03:04.5" of DAY TO
/// SECOND, perhaps with a sign. Nothing when it is malformed.
std::optional<std::int64_t> parse_interval(std::string_view text,
                                           const interval_qualifier& qualifier);

/// The value of a literal: one row of the type.
/// @param zone  of the session: of TIMESTAMP_LTZ without an offset
/// @errors type_mismatch  a text that is no value of the type
result<graph::column_ptr> constant_value(const bound_constant& from, const logical_type& type,
                                         std::string_view zone);

} // namespace headrace::sql
