#pragma once

#include "libgraph/connector/format.hpp"

#include <memory>

namespace headrace::task {

/// Makes the format `json`: one object a line, fields by name. Options: see json_options.cpp and
/// `docs/connectors.md`.
/// @errors unknown_option, bad_option_value
result<std::unique_ptr<graph::format>> make_json_format(const graph::option_map& options);

} // namespace headrace::task
