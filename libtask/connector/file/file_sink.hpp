#pragma once

#include "libgraph/connector/registry.hpp"

#include <memory>

namespace headrace::task {

/// Makes the sink `file` (also `filesystem`): writes files into a directory, exactly once.
/// Options: see `docs/connectors.md`.
/// @errors unknown_option, bad_option_value, unknown_connector, type_mismatch
result<std::unique_ptr<graph::sink>> make_file_sink(const graph::connector_registry& registry,
                                                    const graph::option_map& options,
                                                    graph::row_type_ptr type);

} // namespace headrace::task
