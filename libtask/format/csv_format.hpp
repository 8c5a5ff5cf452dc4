#pragma once

#include "libgraph/connector/format.hpp"

#include <memory>

namespace headrace::task {

/// Makes the format `csv` (RFC 4180). Options: see csv_options.cpp and `docs/connectors.md`.
/// Arrays and nested rows of scalars are one field, their elements apart by the array delimiter.
/// @errors unknown_option, bad_option_value
result<std::unique_ptr<graph::format>> make_csv_format(const graph::option_map& options);

} // namespace headrace::task
