#pragma once

#include "libactors/base/bytes.hpp"
#include "libactors/base/ids.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

namespace headrace::graph {

/// Hashes bytes to 128 bits (XXH3): the same on every machine and in every release, so that ids
/// made from it find their state again. @returns high and low words, never both zero
std::pair<std::uint64_t, std::uint64_t> structure_hash(byte_view bytes);

/// The id of the operator that was given this uid.
operator_id id_of_uid(std::string_view uid);

} // namespace headrace::graph
