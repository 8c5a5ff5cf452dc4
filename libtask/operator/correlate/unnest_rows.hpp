#pragma once

#include "libtask/operator/correlate/table_rows.hpp"
#include "libgraph/spec/operator_spec.hpp"

#include <memory>
#include <vector>

namespace headrace::task {

/// UNNEST: a row for each element of a collection, none where it is empty or NULL (with a left join
/// one of NULLs). An element that is a ROW is spread into its fields, all NULL where it is.
/// @param types  of the columns that are made, one for each of `spec.fields`
std::unique_ptr<table_rows> make_unnest_rows(const graph::correlate_spec& spec,
                                             std::vector<graph::logical_type> types);

} // namespace headrace::task
