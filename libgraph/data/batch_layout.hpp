#pragma once

#include "libgraph/types/logical_type.hpp"

#include <cstddef>
#include <cstdint>

/// What the two halves of the batch codec agree on.
namespace headrace::graph::batch_layout {

inline constexpr std::uint32_t magic = 0x31425248; ///< "HRB1": the version is part of it
inline constexpr std::size_t alignment_bytes = 64;
inline constexpr std::size_t padding_bytes = 64;
inline constexpr unsigned has_timestamps = 1U;
inline constexpr unsigned has_kinds = 2U;

inline std::size_t align(std::size_t size) {
  return (size + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
}

/// Bytes of the values section of a column.
inline std::size_t values_bytes(const logical_type& type, std::size_t rows) {
  const auto physical = type.physical();
  return physical == physical_type::list || physical == physical_type::map
             ? (rows + 1) * sizeof(std::int32_t)
             : rows * static_cast<std::size_t>(type.width_bytes());
}

} // namespace headrace::graph::batch_layout
