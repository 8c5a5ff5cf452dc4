#pragma once

#include "libgraph/spec/operator_spec.hpp"

namespace headrace::graph {

/// Whether an operator that a plan of SQL has made has something in a checkpoint. False only where
/// it never has, so that it may come and go between a savepoint and a restore.
bool keeps_state(const operator_spec& spec);

} // namespace headrace::graph
