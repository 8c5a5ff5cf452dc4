#pragma once

#include "libgraph/data/column.hpp"
#include "libactors/base/bytes.hpp"

#include <cstddef>

namespace headrace::graph {

/// Appends the bytes of one value of any type as a key of one column: what `encode_keys` writes,
/// and `decode_keys` reads.
void append_key(const column& values, std::size_t row, byte_string& out);

} // namespace headrace::graph
