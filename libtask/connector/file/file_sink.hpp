#pragma once

#include "libgraph/connector/registry.hpp"
#include "libactors/base/option.hpp"

#include <memory>
#include <vector>

namespace headrace::task {

/// Makes the sink `file` (also `filesystem`): writes files into a directory, exactly once.
/// Options: see `docs/connectors.md`.
/// @errors unknown_option, bad_option_value, unknown_connector, type_mismatch
result<std::unique_ptr<graph::sink>> make_file_sink(const graph::connector_registry& registry,
                                                    const graph::option_map& options,
                                                    graph::row_type_ptr type);

/// What it takes, less the format's own.
std::vector<option_declaration> file_sink_options();

} // namespace headrace::task
