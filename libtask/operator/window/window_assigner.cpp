#include "libtask/operator/window/window_assigner.hpp"

#include <limits>

namespace headrace::task {
namespace {

std::int64_t floor_mod(std::int64_t value, std::int64_t by) {
  const std::int64_t rest = value % by;
  return rest < 0 ? rest + by : rest;
}

} // namespace

window_assigner::window_assigner(const graph::window_spec& window)
    : size_ms_(window.size_ms),
      slide_ms_(window.kind == graph::window_kind::sliding ? window.slide_ms : window.size_ms),
      offset_ms_(window.offset_ms), lateness_ms_(window.allowed_lateness_ms) {}

std::int64_t window_assigner::cleanup_ms(std::int64_t start_ms) const {
  std::int64_t out = 0;
  if (__builtin_add_overflow(last_ms(start_ms), lateness_ms_, &out))
    return std::numeric_limits<std::int64_t>::max();
  return out;
}

void window_assigner::assign(const graph::record_batch& in, std::int64_t watermark_ms,
                             window_assignment& out) const {
  out.rows.clear();
  out.starts_ms.clear();
  out.fired_rows.clear();
  out.fired_starts_ms.clear();
  out.late_rows.clear();
  const std::int64_t* times = in.timestamps();
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto row = in.row_at(i);
    const std::int64_t time = times[row];
    bool taken = false;
    bool in_window = false; // with a slide above the size, a row may fall between windows
    for (std::int64_t start = time - floor_mod(time - offset_ms_, slide_ms_);
         start > time - size_ms_; start -= slide_ms_) {
      in_window = true;
      if (last_ms(start) > watermark_ms) {
        out.rows.push_back(row);
        out.starts_ms.push_back(start);
      } else if (cleanup_ms(start) > watermark_ms) {
        out.fired_rows.push_back(row);
        out.fired_starts_ms.push_back(start);
      } else {
        break; // older ones are gone too
      }
      taken = true;
    }
    if (in_window && !taken)
      out.late_rows.push_back(row);
  }
}

status check_window(const graph::window_spec& window) {
  if (window.kind == graph::window_kind::end_of_stream)
    return {};
  if (window.size_ms <= 0)
    return error(errc::invalid_graph,
                 "window size is not positive: " + std::to_string(window.size_ms) + " ms");
  if (window.kind == graph::window_kind::sliding && window.slide_ms <= 0)
    return error(errc::invalid_graph,
                 "window slide is not positive: " + std::to_string(window.slide_ms) + " ms");
  if (window.allowed_lateness_ms < 0)
    return error(errc::invalid_graph, "allowed lateness is negative: " +
                                          std::to_string(window.allowed_lateness_ms) + " ms");
  return {};
}

} // namespace headrace::task
