// Any bytes make a job graph or an error, and a graph that was accepted is written back the same.

#include "libgraph/job_graph/job_graph_codec.hpp"
#include "libactors/base/assert.hpp"
#include "libactors/message/message.hpp"
#include "schema/graph.capnp.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace;
  auto bytes = byte_view(reinterpret_cast<const char*>(data), size);
  auto checked = validate_message(type_id_of<schema::JobGraph>(), bytes);
  if (!checked)
    return 0;

  auto received = message<schema::JobGraph>(checked.value()).view();
  auto job = checked_read([&] { return graph::decode(*received); });
  if (!job)
    return 0;

  auto written = graph::encode(job.value()).view();
  auto again = graph::decode(*written);
  HEADRACE_ASSERT(again.has_value(), "a graph that was accepted is accepted again");
  HEADRACE_ASSERT(again.value() == job.value(), "a graph is read as it was written");
  return 0;
}
