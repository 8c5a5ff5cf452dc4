#pragma once

#include "libgraph/job_graph/job_graph.hpp"
#include "libgraph/types/logical_type.hpp"

#include <string>
#include <vector>

namespace headrace::graph {

/// "CUMULATE of 60000 ms each 10000 ms".
std::string describe(const window_spec& window);

/// What the state of an operator of SQL is of, beyond the types of what is kept: by which columns,
/// over which windows or rows, and what of them. State of one query means something else to
/// another, even where all types are the same. Named as EXPLAIN does where there are names; what a
/// column is computed of is not told, and neither are settings that leave the meaning of state
/// alone (mini-batches, what readers need of updates). Empty: an operator of the API, or one
/// without keyed state.
std::vector<logical_type::field> query_parts(const operator_node& node);

} // namespace headrace::graph
