#pragma once

#include "libgraph/connector/registry.hpp"

namespace headrace::task {

/// Adds all connectors and formats of this library. Called once, by apps/cluster.
void register_connectors(graph::connector_registry& registry);

} // namespace headrace::task
