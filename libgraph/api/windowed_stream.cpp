#include "libgraph/api/windowed_stream.hpp"

namespace headrace::api {

graph::aggregation built_in_aggregation(graph::aggregate_kind kind, std::int32_t column,
                                        std::size_t columns) {
  graph::aggregation out;
  if (kind == graph::aggregate_kind::min_by || kind == graph::aggregate_kind::max_by) {
    out.calls.push_back({kind, column});
    return out;
  }
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(columns); ++i)
    out.calls.push_back({i == column ? kind : graph::aggregate_kind::first, i});
  return out;
}

} // namespace headrace::api
