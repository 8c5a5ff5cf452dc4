#pragma once

#include "libgraph/connector/format.hpp"

#include <memory>

namespace headrace::task {

/// Makes the format `lines`: each line, without its "\n" or "\r\n", is a row of one string column.
/// Takes no options. @errors unknown_option
result<std::unique_ptr<graph::format>> make_lines_format(const graph::option_map& options);

} // namespace headrace::task
