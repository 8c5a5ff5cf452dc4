#pragma once

#include "libgraph/connector/registry.hpp"

#include <memory>

namespace headrace::task {

/// Makes the source `collection`: rows that travel in its option `rows`, as `encode_batch` wrote
/// them, in base64. @errors bad_option_value, unknown_option
result<std::unique_ptr<graph::source>>
make_collection_source(const graph::connector_registry& registry, const graph::option_map& options,
                       graph::row_type_ptr type);

/// A source of the selected rows of a batch.
std::unique_ptr<graph::source> make_collection_source(graph::record_batch rows);
/// What option `rows` holds for a batch.
std::string encode_collection(const graph::record_batch& rows);

} // namespace headrace::task
