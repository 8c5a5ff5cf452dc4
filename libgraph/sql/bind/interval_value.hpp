#pragma once

#include "libgraph/sql/parse/type_ast.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace headrace::sql {

/// The value of an interval's text: months for units of years and months, else milliseconds; what
/// is finer than a millisecond is cut off. A sign may stand before it.
///
///     '10' SECOND → 10000      '1-2' YEAR TO MONTH → 14      '1 02:03:04.5' DAY TO SECOND
///
/// @returns nothing when the text is none of the qualifier, or out of range
std::optional<std::int64_t> interval_value(std::string_view text,
                                           const interval_qualifier& qualifier);

} // namespace headrace::sql
