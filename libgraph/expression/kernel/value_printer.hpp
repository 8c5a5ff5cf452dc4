#pragma once

#include "libgraph/data/column.hpp"
#include "libgraph/expression/kernel/time_zone.hpp"

#include <memory>
#include <string>

namespace headrace::graph {

/// Appends a value as CAST(… AS STRING) writes it: TRUE, 1.0E7, `2024-02-29 12:34:56.789` with the
/// digits that the type declares, instants in the zone; inside of arrays, maps and rows as well:
/// `[1, 2]`, `{a=1}`, `(1, a)`, NULL there as NULL. The value itself is not NULL.
void append_cast_text(const column& values, std::size_t row, const time_zone& zone,
                      std::string& out);

} // namespace headrace::graph
