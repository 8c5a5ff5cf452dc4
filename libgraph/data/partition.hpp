#pragma once

#include "libgraph/data/record_batch.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace headrace::graph {

/// Splits a batch by target: element t holds the selected rows i with targets[i] == t, in their
/// order; nothing where there are none.
///
/// A piece with a large part of the rows is a selection over the same columns. Of smaller pieces
/// the rows are copied together, so that no piece holds a batch alive for a few of its rows.
///
/// @param targets  one a selected row, each below `target_count`
std::vector<std::optional<record_batch>> split_batch(const record_batch& batch,
                                                     std::span<const std::uint32_t> targets,
                                                     std::size_t target_count);

/// Fills the targets of a round robin: start, start + 1, … modulo target_count.
/// @returns where the next batch starts
std::uint32_t round_robin_targets(std::uint32_t start, std::size_t target_count,
                                  std::span<std::uint32_t> out);

/// Cuts a batch into consecutive slices of at most `rows_max` selected rows; none when it is empty.
std::vector<record_batch> slice_batch(const record_batch& batch, std::size_t rows_max);

} // namespace headrace::graph
