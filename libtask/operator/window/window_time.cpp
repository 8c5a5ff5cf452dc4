#include "libtask/operator/window/window_time.hpp"

#include "libgraph/data/column.hpp"
#include "libgraph/expression/kernel/time_zone.hpp"

namespace headrace::task {

result<window_time> window_time::of(const std::string& zone) {
  window_time out;
  if (!zone.empty() && zone != "UTC") {
    HEADRACE_TRY(out.zone_, graph::time_zone::find(zone));
  }
  return out;
}

std::int64_t window_time::instant_ms(std::int64_t local) const {
  return zone_ == nullptr ? local : zone_->utc_millis(local);
}

std::int64_t window_time::local_ms(std::int64_t instant) const {
  return zone_ == nullptr ? instant : zone_->local_millis(instant);
}

std::int64_t millis_at(const graph::column& times, std::size_t row) {
  if (times.type().physical() != graph::physical_type::timestamp_nanos)
    return times.values<std::int64_t>()[row];
  constexpr graph::int128 nanos = 1'000'000;
  const auto value = times.values<graph::int128>()[row];
  return static_cast<std::int64_t>(value / nanos - (value % nanos < 0 ? 1 : 0));
}

} // namespace headrace::task
