#pragma once

#include "libgraph/data/record_batch.hpp"
#include "libactors/base/result.hpp"

#include <string_view>

namespace headrace::task {

/// For sinks that cannot take rows back. @errors output_unusable  a row is an update or a deletion
status check_inserts_only(const graph::record_batch& rows, std::string_view sink);

} // namespace headrace::task
