#pragma once

#include "libactors/base/bytes.hpp"
#include "libactors/base/ids.hpp"

#include <cstdint>

namespace headrace::state {

/// Hashes for directories. Never stored, so free to change. One wide multiplication, folded as in
/// wyhash (Wang Yi), is half the work of a full mix; two keys may, rarely, have one hash.
inline std::uint64_t hash_of_fixed(std::uint64_t key) {
  __extension__ using wide = unsigned __int128;
  const auto product = static_cast<wide>(key ^ 0x2d358dccaa6c78a5ULL) * 0x8bb84b93962eacc9ULL;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}
std::uint64_t hash_of_bytes(byte_view key);
constexpr std::uint64_t hash_of_null = 0x9e3779b97f4a7c15ULL;

} // namespace headrace::state
