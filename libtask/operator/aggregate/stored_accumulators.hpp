#pragma once

#include "libtask/operator/stored_value.hpp"

namespace headrace::task {

/// Reads what accumulators of built-in aggregates have come to (`builtin_aggregate`), those of
/// windows too. Which aggregates they are is told by the description of the query; of a function,
/// and where an older release did not tell, nothing is read here.
stored_reader read_accumulators(const stored_operator& of, const state::state_description& state);

} // namespace headrace::task
