#pragma once

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/order_key.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <span>

namespace headrace::graph {

/// Appends what a key of `encode_order_keys` was written of, to a column builder for each column of
/// the order, of its type: so that values can be told of rows that are not kept.
///
/// @errors malformed_message  bytes that cannot have been written for these columns; something may
///                            have been appended
status decode_order_key(byte_view key, std::span<const order_column> order,
                        std::span<column_builder* const> to);

} // namespace headrace::graph
