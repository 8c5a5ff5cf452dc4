#pragma once

#include "libgraph/data/record_batch.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace headrace::graph {

/// Hashes key columns of the selected rows to 64 bits each.
///
/// A fixed function for ever: key groups, and so snapshots, rest on it. Equal keys have equal
/// hashes in every process: NULL equals NULL, -0.0 equals 0.0, NaN equals NaN, maps are equal in
/// any order of their entries, and integers of all widths hash alike. All 64 bits are good.
///
/// @param indices  columns of the batch, at least one; their order counts
/// @param out      batch.size() hashes
void hash_columns(const record_batch& batch, std::span<const int> indices,
                  std::span<std::uint64_t> out);

/// Hashes all rows of a column like a batch of it.
void hash_column(const column& keys, std::span<std::uint64_t> out);

/// The hash that `hash_columns` gives a single key of one string or of one integer.
std::uint64_t hash_of(std::string_view key);
std::uint64_t hash_of(std::int64_t key);
/// The same of a single key that is NULL.
std::uint64_t hash_of_null();

} // namespace headrace::graph
