#pragma once

#include "libgraph/types/logical_type.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

/// How the words that aggregates keep of a group are read and written.
namespace headrace::task::cell_bytes {

constexpr std::size_t count_bytes = 8;
constexpr std::size_t wide_bytes = 16;

template <class T>
T load(const std::byte* from) {
  T out;
  std::memcpy(&out, from, sizeof(out));
  return out;
}
template <class T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(value));
}

__extension__ using uint128 = unsigned __int128;

inline void add_wrapping(std::byte* to, graph::int128 by) {
  store(to, static_cast<graph::int128>(static_cast<uint128>(load<graph::int128>(to)) +
                                       static_cast<uint128>(by)));
}

inline graph::int128 bits_of(double value) {
  return graph::int128{std::bit_cast<std::int64_t>(value)};
}
inline double real_of(graph::int128 bits) {
  return std::bit_cast<double>(static_cast<std::int64_t>(bits));
}

} // namespace headrace::task::cell_bytes
