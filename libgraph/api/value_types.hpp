#pragma once

#include "libgraph/types/logical_type.hpp"

#include <compare>
#include <cstdint>

namespace headrace::api {

/// A point in event time: milliseconds since 1970-01-01 UTC. TIMESTAMP(3).
struct timestamp_ms {
  std::int64_t value = 0;
  friend auto operator<=>(const timestamp_ms&, const timestamp_ms&) = default;
};

/// DECIMAL(Precision, Scale): `unscaled` times ten to the power of -Scale.
template <int Precision, int Scale>
struct decimal {
  static_assert(Precision >= 1 && Precision <= 38, "the precision of a decimal is 1 to 38");
  static_assert(Scale >= 0 && Scale <= Precision, "the scale of a decimal is 0 to its precision");
  graph::int128 unscaled = 0;

  friend bool operator==(const decimal& left, const decimal& right) {
    return left.unscaled == right.unscaled;
  }
  friend std::strong_ordering operator<=>(const decimal& left, const decimal& right) {
    return left.unscaled < right.unscaled   ? std::strong_ordering::less
           : right.unscaled < left.unscaled ? std::strong_ordering::greater
                                            : std::strong_ordering::equal;
  }
  friend decimal operator+(const decimal& left, const decimal& right) {
    return {left.unscaled + right.unscaled};
  }
  friend decimal operator-(const decimal& left, const decimal& right) {
    return {left.unscaled - right.unscaled};
  }
};

} // namespace headrace::api
