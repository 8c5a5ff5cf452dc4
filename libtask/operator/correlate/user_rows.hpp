#pragma once

#include "libtask/operator/correlate/table_rows.hpp"
#include "libgraph/spec/operator_spec.hpp"

#include <memory>
#include <vector>

namespace headrace::task {

/// A user's table function.
/// @param types  of the columns that are made, one for each of `spec.fields`
/// @errors malformed_message, user_function_failed
result<std::unique_ptr<table_rows>> make_user_rows(const graph::correlate_spec& spec,
                                                   std::vector<graph::logical_type> types);

} // namespace headrace::task
