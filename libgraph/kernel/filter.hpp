#pragma once

#include "libgraph/data/record_batch.hpp"

#include <cstdint>
#include <span>

namespace headrace::graph {

/// Keeps the selected rows whose byte is 1. Nothing is copied: the batch gets a selection, or is
/// given back when every row stays.
///
/// @param keep  0 or 1 for each selected row
record_batch filter_batch(const record_batch& batch, std::span<const std::uint8_t> keep);

/// Keeps the selected rows for which a BOOLEAN column is TRUE; NULL counts as FALSE.
///
/// @param condition  by column row, as long as the batch's columns
record_batch filter_batch(const record_batch& batch, const column& condition);

} // namespace headrace::graph
