#include "apps/cluster/mini_cluster.hpp"
#include "libtask/connector/registration.hpp"

namespace headrace::cluster {

void register_all_connectors(graph::connector_registry& into,
                             std::function<void(std::string_view)> /*print*/) {
  task::register_connectors(into);
}

} // namespace headrace::cluster
