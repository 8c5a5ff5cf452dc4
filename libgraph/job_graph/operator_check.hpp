#pragma once

#include "libactors/base/result.hpp"

#include <string>

namespace headrace::graph {

struct operator_node;

/// Checks that an operator by itself can be carried out: columns that are there, functions for
/// their types. `validate` does the same with all of a job.
/// @param where  of the operator, for the message
/// @errors invalid_graph, type_mismatch
status check_operator(const operator_node& node, const std::string& where);

} // namespace headrace::graph
