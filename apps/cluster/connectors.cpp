#include "apps/cluster/mini_cluster.hpp"
#include "libtask/connector/registration.hpp"

namespace headrace::cluster {

void register_all_connectors(graph::connector_registry& into,
                             std::function<status(std::string_view)> print) {
  task::sink_targets targets;
  targets.print = std::move(print);
  task::register_connectors(into, std::move(targets));
}

} // namespace headrace::cluster
