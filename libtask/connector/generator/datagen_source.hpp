#pragma once

#include "libgraph/connector/registry.hpp"
#include "libactors/base/option.hpp"

#include <memory>
#include <vector>

namespace headrace::task {

/// Makes the source `generator` (also `datagen`): rows of random values or sequences, by options
/// for each field. The same seed and index give the same values, whatever the parallelism and after
/// every recovery. Options: see `docs/connectors.md`.
/// @param rows_per_second  when no option says otherwise; 0: as fast as it goes
/// @errors unknown_option, bad_option_value, type_mismatch
result<std::unique_ptr<graph::source>> make_datagen_source(const graph::option_map& options,
                                                           graph::row_type_ptr type,
                                                           double rows_per_second);

/// What it takes; "#" stands for a field's name.
std::vector<option_declaration> datagen_options();

} // namespace headrace::task
