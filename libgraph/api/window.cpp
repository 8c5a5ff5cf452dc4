#include "libgraph/api/window.hpp"

namespace headrace::api {

graph::window_spec tumbling_event_time(std::chrono::milliseconds size,
                                       std::chrono::milliseconds offset) {
  return {graph::window_kind::tumbling, size.count(), size.count(), offset.count(), 0};
}

graph::window_spec sliding_event_time(std::chrono::milliseconds size,
                                      std::chrono::milliseconds slide,
                                      std::chrono::milliseconds offset) {
  return {graph::window_kind::sliding, size.count(), slide.count(), offset.count(), 0};
}

graph::window_spec end_of_stream() { return {graph::window_kind::end_of_stream, 0, 0, 0, 0}; }

} // namespace headrace::api
