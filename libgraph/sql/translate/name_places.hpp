#pragma once

#include "libgraph/transformation/pipeline.hpp"

#include <cstddef>

namespace headrace::sql {

/// Tells the operators of a job's plans by what they are of, so that each is found again in a
/// savepoint when statements come, go or change places. An operator is of the table that it is
/// written to, of several the first by name, and its place is told in that one's plan alone. A
/// source is of the table that it reads; of several that read one table, of that and the other.
///
/// Before, the statement of a source and a sink is its table, with the database; else it is that of
/// its name.
///
/// @param first  where the plans' operators begin in the program
void name_places(graph::pipeline& program, std::size_t first);

} // namespace headrace::sql
