#pragma once

#include "libtask/connector/simple_sinks.hpp"
#include "libgraph/connector/connector_description.hpp"
#include "libgraph/connector/registry.hpp"

#include <vector>

namespace headrace::task {

/// Where `print` writes. What is left empty: the process's standard output and error.
struct sink_targets {
  print_target print;
  print_target print_error;
};

/// Adds all connectors and formats of this library. Called once, by apps/cluster.
void register_connectors(graph::connector_registry& registry, sink_targets targets = {});

/// All that `register_connectors` adds, sorted by name.
std::vector<graph::connector_description> describe_connectors();

} // namespace headrace::task
