#include "libscheduler/checkpoint/final_checkpoint.hpp"

#include "libgraph/connector/abilities.hpp"

#include <algorithm>

namespace headrace::scheduler {
namespace {

bool commits(const graph::operator_node& node, const graph::connector_registry* connectors) {
  const auto* spec = std::get_if<graph::sink_spec>(&node.spec);
  if (spec == nullptr)
    return false;
  const auto& connector = spec->connector;
  if (!connector.provider.is_none() || connectors == nullptr || node.input_types.empty())
    return true;
  if (connector.name == "collect") // without an interval it gives rows as they come
    return false;
  const auto made =
      connectors->create_sink(connector.name, connector.options,
                              std::make_shared<const graph::logical_type>(node.input_types[0]));
  return !made || dynamic_cast<const graph::commitless_sink*>(made->get()) == nullptr;
}

} // namespace

bool takes_final_checkpoint(const graph::job_graph& job,
                            const graph::connector_registry* connectors) {
  if (job.checkpoints.interval_ms > 0 || !job.checkpoints.master_hooks.empty())
    return true;
  return std::any_of(job.vertices.begin(), job.vertices.end(),
                     [&](const graph::job_vertex& vertex) {
                       return std::any_of(vertex.operators.begin(), vertex.operators.end(),
                                          [&](const graph::operator_node& node) {
                                            return commits(node, connectors);
                                          });
                     });
}

} // namespace headrace::scheduler
