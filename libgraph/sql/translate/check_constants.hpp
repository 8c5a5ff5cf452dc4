#pragma once

#include "libgraph/expression/expression.hpp"
#include "libactors/base/result.hpp"

#include <string>

namespace headrace::sql {

/// Computes the parts of an expression that are the same for every row, so that what each row would
/// fail with is told before any is read. What only some rows compute (a branch of CASE, what stands
/// behind AND) may fail with them.
/// @errors data_errc::…  "/ failed: division by zero"
status check_constants(const graph::expression& checked, const std::string& time_zone);

} // namespace headrace::sql
