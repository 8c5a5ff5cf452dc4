#pragma once

#include "libstate/backend/keyed_backend.hpp"
#include "libgraph/types/logical_type.hpp"

#include <vector>

namespace headrace::task {

/// Declares in an operator's keyed state what it is of (graph::query_parts): a table without rows,
/// whose description is stored with the others. Before the operator opens its own.
/// @errors incompatible_state  the restored state is of another query; says what differs and what
///                             to do. State that an older release stored says nothing, and is taken
status declare_query(state::keyed_backend& backend, std::vector<graph::logical_type::field> parts);

} // namespace headrace::task
