#pragma once

#include "libgraph/types/logical_type.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace headrace::graph {

/// Calls `body(std::type_identity<T>())` with the C++ type of a fixed-width physical type (boolean:
/// std::uint8_t; timestamp_nanos: int128). @returns false for string, list, map, row and none
template <class Body>
bool visit_fixed_width(physical_type physical, Body&& body) {
  switch (physical) {
  case physical_type::boolean:
    body(std::type_identity<std::uint8_t>());
    return true;
  case physical_type::int8:
    body(std::type_identity<std::int8_t>());
    return true;
  case physical_type::int16:
    body(std::type_identity<std::int16_t>());
    return true;
  case physical_type::int32:
    body(std::type_identity<std::int32_t>());
    return true;
  case physical_type::int64:
    body(std::type_identity<std::int64_t>());
    return true;
  case physical_type::int128:
  case physical_type::timestamp_nanos:
    body(std::type_identity<int128>());
    return true;
  case physical_type::float32:
    body(std::type_identity<float>());
    return true;
  case physical_type::float64:
    body(std::type_identity<double>());
    return true;
  default:
    return false;
  }
}

/// Makes equal keys equal bits: -0.0 becomes 0.0, and every NaN the same one.
template <class T>
T canonical_key(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value))
      return std::numeric_limits<T>::quiet_NaN();
    return value == T{0} ? T{0} : value;
  } else {
    return value;
  }
}

} // namespace headrace::graph
