#pragma once

#include "libgraph/api/collector.hpp"

#include <cstdint>
#include <limits>
#include <optional>

namespace headrace::api {

/// Of windows of rows of type T.
template <class T>
struct window_settings {
  static constexpr auto never_ms = std::numeric_limits<std::int64_t>::max();

  std::int64_t allowed_lateness_ms = 0;
  std::optional<output_tag<T>> late; ///< where rows go that come too late; none: they are dropped

  /// By the allowed lateness; at most `never_ms`.
  std::int64_t later(std::int64_t time_ms) const {
    return time_ms > never_ms - allowed_lateness_ms ? never_ms : time_ms + allowed_lateness_ms;
  }
};

} // namespace headrace::api
