#pragma once

#include "libactors/base/bytes.hpp"
#include "libactors/base/ids.hpp"

#include <cstdint>

namespace headrace::state {

/// Hashes for directories. Never stored, so free to change.
inline std::uint64_t hash_of_fixed(std::uint64_t key) { return mix64(key); }
std::uint64_t hash_of_bytes(byte_view key);
constexpr std::uint64_t hash_of_null = 0x9e3779b97f4a7c15ULL;

} // namespace headrace::state
