#pragma once

#include "libtask/connector/simple_sinks.hpp"
#include "libgraph/connector/registry.hpp"

namespace headrace::task {

/// Where sinks that do not write to storage send their rows. What is left empty: print goes to the
/// process's standard output, there is no sink `collect`.
struct sink_targets {
  print_target print;
  print_target print_error;
  collect_factory collect;
};

/// Adds all connectors and formats of this library. Called once, by apps/cluster.
void register_connectors(graph::connector_registry& registry, sink_targets targets = {});

} // namespace headrace::task
