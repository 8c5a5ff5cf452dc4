#pragma once

#include "libgraph/connector/registry.hpp"
#include "libactors/base/option.hpp"

#include <memory>
#include <span>
#include <vector>

namespace headrace::task {

/// Makes the source `file` (also `filesystem`): reads a file, a directory or a glob with a format.
/// Options: see `docs/connectors.md`. Options that start with the format's name and a dot go to the
/// format.
/// @errors unknown_option, bad_option_value, unknown_connector, type_mismatch
result<std::unique_ptr<graph::source>> make_file_source(const graph::connector_registry& registry,
                                                        const graph::option_map& options,
                                                        graph::row_type_ptr type);

/// What it takes, less the format's own.
std::vector<option_declaration> file_source_options();

/// What a table of files takes, whichever way it is used: the options of source and sink. Those of
/// the other way are checked and mean nothing.
std::span<const option_declaration> file_table_options();

} // namespace headrace::task
