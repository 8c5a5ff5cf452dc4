#pragma once

#include "libactors/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace headrace::graph {
class column;
class time_zone;
} // namespace headrace::graph

namespace headrace::task {

/// How the times of windows, which are those of clocks, are told from instants: windows over
/// TIMESTAMP_LTZ and processing time begin where the session's time zone has a round time.
class window_time {
public:
  /// @param zone  empty: times are instants, as those of TIMESTAMP are
  /// @errors bad_option_value  no such zone
  static result<window_time> of(const std::string& zone);

  /// The instant at which clocks show a time; all in milliseconds.
  std::int64_t instant_ms(std::int64_t local_ms) const;
  std::int64_t local_ms(std::int64_t instant_ms) const;

private:
  std::shared_ptr<const graph::time_zone> zone_; ///< null: both are one
};

/// A time of a TIMESTAMP or TIMESTAMP_LTZ column in milliseconds, rounded down.
std::int64_t millis_at(const graph::column& times, std::size_t row);

} // namespace headrace::task
