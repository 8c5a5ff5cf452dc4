#pragma once

#include "libgraph/connector/registry.hpp"

#include <memory>

namespace headrace::task {

/// Makes the source `nexmark`: the events of the benchmark, the same ones for the same settings
/// whatever the parallelism. Options: `nexmark_settings::declared`.
/// @errors unknown_option, bad_option_value, type_mismatch
result<std::unique_ptr<graph::source>>
make_nexmark_source(const graph::connector_registry& registry, const graph::option_map& options,
                    graph::row_type_ptr type);

} // namespace headrace::task
