#pragma once

#include "libgraph/expression/kernel/kernel.hpp"

namespace headrace::graph {

/// FLOOR and CEIL of a DATE or timestamp to a unit that is a constant; weeks begin on Sunday, an
/// instant is rounded by the session's clocks. @errors type_mismatch
result<kernel> make_time_rounding(const kernel_request& request, bool is_up);

} // namespace headrace::graph
