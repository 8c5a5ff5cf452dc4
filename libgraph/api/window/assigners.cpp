#include "libgraph/api/window/assigners.hpp"

namespace headrace::api {

std::int64_t checked_count(std::int64_t rows) {
  if (rows < 1)
    throw graph::failure({errc::invalid_graph,
                          "size and slide of count windows are positive: " + std::to_string(rows)});
  return rows;
}

time_windows<graph::time_domain::processing>
tumbling_processing_time(std::chrono::milliseconds size, std::chrono::milliseconds offset) {
  return time_windows<graph::time_domain::processing>(tumbling_event_time(size, offset));
}

time_windows<graph::time_domain::processing>
sliding_processing_time(std::chrono::milliseconds size, std::chrono::milliseconds slide,
                        std::chrono::milliseconds offset) {
  return time_windows<graph::time_domain::processing>(sliding_event_time(size, slide, offset));
}

session_windows<graph::time_domain::event, fixed_gap>
session_event_time(std::chrono::milliseconds gap) {
  return session_windows<graph::time_domain::event, fixed_gap>({gap});
}

session_windows<graph::time_domain::processing, fixed_gap>
session_processing_time(std::chrono::milliseconds gap) {
  return session_windows<graph::time_domain::processing, fixed_gap>({gap});
}

} // namespace headrace::api
