#pragma once

#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::graph {

/// The offsets of a zone over all times, read from the system's database once. Immutable.
class time_zone {
public:
  /// A zone by its name of the database ("Europe/Berlin"), "UTC", "Z", or an offset: "+08:00",
  /// "GMT+8", "UTC-03:30".
  /// @errors bad_option_value  no such zone, or its file is malformed
  static result<std::shared_ptr<const time_zone>> find(std::string_view name);
  /// Reads a compiled zone (TZif, RFC 8536).
  static result<std::shared_ptr<const time_zone>> read(std::string name, byte_view bytes);

  const std::string& name() const { return name_; }
  /// Seconds east of UTC at an instant, in seconds since 1970-01-01 UTC.
  std::int32_t offset_at(std::int64_t utc_seconds) const;
  /// The instant at which clocks of the zone show a time. One that comes twice is the first; one
  /// that is left out is as far behind the gap's begin as it is behind that of the gap.
  std::int64_t to_utc(std::int64_t local_seconds) const;

  // The same in milliseconds.
  std::int64_t local_millis(std::int64_t utc_millis) const;
  std::int64_t utc_millis(std::int64_t local_millis) const;

private:
  /// A day of each year on which the offset changes: `Mm.w.d/time`, or a day by its number.
  struct yearly_change {
    enum class kind : std::uint8_t { weekday, day_without_leap, day } form = kind::weekday;
    std::int32_t month = 1;
    std::int32_t week = 1;
    std::int32_t day = 0;
    std::int32_t second = 7200;
    std::int64_t at(std::int64_t year) const;
  };
  struct rule {
    std::int32_t offset = 0;
    std::int32_t summer_offset = 0;
    std::optional<yearly_change> begin; ///< of summer
    std::optional<yearly_change> end;
    std::int32_t offset_at(std::int64_t utc_seconds) const;
  };
  class rule_reader;

  std::string name_;
  std::vector<std::int64_t> changes_; ///< ascending instants
  std::vector<std::int32_t> offsets_; ///< from each change on
  std::int32_t first_offset_ = 0;     ///< before the first change
  std::optional<rule> rule_;          ///< behind the last change
};

} // namespace headrace::graph
