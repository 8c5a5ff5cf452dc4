#pragma once

#include "libactors/base/bytes.hpp"

#include <cstdint>
#include <utility>

namespace headrace::graph {

/// Hashes bytes to 128 bits (XXH3): the same on every machine and in every release, so that ids
/// made from it find their state again. @returns high and low words, never both zero
std::pair<std::uint64_t, std::uint64_t> structure_hash(byte_view bytes);

} // namespace headrace::graph
