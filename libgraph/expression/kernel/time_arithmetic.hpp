#pragma once

#include "libgraph/expression/kernel/kernel.hpp"

namespace headrace::graph {

/// + - * / where a side is a time or an interval.
/// @errors type_mismatch
result<kernel> make_time_arithmetic(const kernel_request& request);

} // namespace headrace::graph
