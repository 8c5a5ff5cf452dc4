#pragma once

#include "libgraph/connector/format.hpp"

#include <memory>

namespace headrace::task {

/// `changelog-json`: rows with what they do to a table, an object a line:
///
///     {"op":"+I","data":{"id":1,"name":"ann"}}
///
/// `op` is +I, -U, +U or -D; `data` is as `json` has it, with its options.
/// @errors unknown_option, bad_option_value
result<std::unique_ptr<graph::format>> make_changelog_json_format(const graph::option_map& options);

} // namespace headrace::task
