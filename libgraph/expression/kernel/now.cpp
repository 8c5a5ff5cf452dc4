#include "libgraph/expression/kernel/calendar.hpp"
#include "libgraph/expression/kernel/map.hpp"
#include "libgraph/expression/kernel/time_zone.hpp"

#include <limits>

// What depends on when a row is computed. All rows of a batch are computed at one time.
namespace headrace::graph {
namespace {

result<kernel> make_now(const kernel_request& request) {
  if (!request.arguments.empty() || request.type.root() != type_root::timestamp_ltz ||
      request.type.physical() != physical_type::int64)
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    return map_rows<std::int64_t>(frame, [&] { return frame.now_ms; });
  });
}

result<kernel> make_local_now(const kernel_request& request) {
  if (!request.arguments.empty() || request.type.root() != type_root::timestamp ||
      request.type.physical() != physical_type::int64)
    return unfit(request);
  return kernel([zone = request.zone](kernel_frame& frame) {
    const auto local = zone->local_millis(frame.now_ms);
    return map_rows<std::int64_t>(frame, [&] { return local; });
  });
}

result<kernel> make_today(const kernel_request& request) {
  if (!request.arguments.empty() || request.type.root() != type_root::date)
    return unfit(request);
  return kernel([zone = request.zone](kernel_frame& frame) {
    const auto day = floor_divide(zone->local_millis(frame.now_ms), millis_per_day);
    return map_rows<std::int32_t>(frame, [&] { return static_cast<std::int32_t>(day); });
  });
}

/// The seconds of the day.
result<kernel> make_time_of_day(const kernel_request& request) {
  if (!request.arguments.empty() || request.type.root() != type_root::time)
    return unfit(request);
  return kernel([zone = request.zone](kernel_frame& frame) {
    const auto millis = floor_modulo(zone->local_millis(frame.now_ms), millis_per_day);
    const auto value = static_cast<std::int32_t>(millis - millis % 1'000);
    return map_rows<std::int32_t>(frame, [&] { return value; });
  });
}

/// The watermark, as a value of the argument's type; NULL before the first.
result<kernel> make_watermark(const kernel_request& request) {
  if (request.arguments.size() != 1 || request.type.physical() != physical_type::int64)
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    frame.arguments = {};
    return map_rows<std::int64_t>(frame, [&]() -> std::optional<std::int64_t> {
      if (frame.watermark_ms == std::numeric_limits<std::int64_t>::min())
        return std::nullopt;
      return frame.watermark_ms;
    });
  });
}

constexpr kernel_entry entries[] = {
    {"CURRENT_DATE", "", make_today, true, false, true},
    {"CURRENT_ROW_TIMESTAMP", "", make_now, true, false, true},
    {"CURRENT_TIME", "", make_time_of_day, true, false, true},
    {"CURRENT_TIMESTAMP", "", make_now, true, false, true},
    {"CURRENT_WATERMARK", ".", make_watermark, false, false, true},
    {"LOCALTIME", "", make_time_of_day, true, false, true},
    {"LOCALTIMESTAMP", "", make_local_now, true, false, true},
    {"NOW", "", make_now, true, false, true},
    {"PROCTIME", "", make_now, true, false, true},
};

} // namespace

std::span<const kernel_entry> now_kernels() { return entries; }

} // namespace headrace::graph
