#pragma once

#include "libgraph/data/hash.hpp"
#include "libgraph/data/key_codec.hpp"
#include "libgraph/data/record_batch.hpp"

#include <cstdint>
#include <numeric>
#include <vector>

namespace headrace::fuzzing {

/// Reads every value of every column. Rows without columns are free to write but not to walk: give
/// none of too many.
/// @returns a hash a row
inline std::vector<std::uint64_t> read_batch(const graph::record_batch& batch) {
  std::vector<int> indices(batch.column_count());
  std::iota(indices.begin(), indices.end(), 0);
  std::vector<std::uint64_t> hashes(batch.size());
  graph::hash_columns(batch, indices, hashes);
  graph::encoded_keys keys;
  graph::encode_keys(batch, indices, keys);
  return hashes;
}

} // namespace headrace::fuzzing
