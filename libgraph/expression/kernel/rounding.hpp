#pragma once

#include "libgraph/expression/kernel/kernel.hpp"

namespace headrace::graph {

/// ROUND (half up, away from zero) and TRUNCATE to so many digits behind the point, or before it
/// where they are negative; without: 0. @errors type_mismatch
result<kernel> make_rounding(const kernel_request& request);

} // namespace headrace::graph
