#pragma once

#include "libactors/base/bytes.hpp"
#include "libactors/base/ids.hpp"

#include <cstdint>

#ifdef __SSE4_2__
#include <nmmintrin.h>
#endif

namespace headrace::state {

/// Hashes for directories, which look at the upper 32 bits. Never stored, so free to change; two
/// keys may, rarely, have one hash. Where the machine computes CRC-32C that is one instruction, and
/// keys that differ in 32 bits side by side only, as most do, have hashes of their own; else one
/// wide multiplication, folded as in wyhash (Wang Yi).
inline std::uint64_t hash_of_fixed(std::uint64_t key) {
#ifdef __SSE4_2__
  return _mm_crc32_u64(~std::uint32_t{0}, key) << 32U;
#else
  __extension__ using wide = unsigned __int128;
  const auto product = static_cast<wide>(key ^ 0x2d358dccaa6c78a5ULL) * 0x8bb84b93962eacc9ULL;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
#endif
}
std::uint64_t hash_of_bytes(byte_view key);
constexpr std::uint64_t hash_of_null = 0x9e3779b97f4a7c15ULL;

} // namespace headrace::state
