#pragma once

#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <cstddef>
#include <span>

namespace headrace::graph {

class batch_builder;

/// Appends rows that `encode_keys` has written to the first `width` columns of a builder; ends
/// none of them. On error nothing is appended.
/// @errors malformed_message  bytes that `encode_keys` cannot have written for the columns' types
status decode_rows(std::span<const byte_view> rows, std::size_t width, batch_builder& to);

} // namespace headrace::graph
