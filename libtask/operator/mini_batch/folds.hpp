#pragma once

#include "libtask/operator/mini_batch/mini_batch_operator.hpp"

#include <cstdint>
#include <vector>

// How bundles become fewer rows.
namespace headrace::task {

/// Rows that come and go within a bundle leave it, each with the one that is equal in all columns;
/// the others stay in their order. For each input its type.
bundle_fold fold_pairs(const std::vector<graph::logical_type>& inputs,
                       std::int32_t max_parallelism);

/// Of each key the row that is first in the order stays, of equal ones the earlier, or the later.
/// Over rows that only come.
bundle_fold fold_to_first(const graph::rank_spec& spec, const graph::logical_type& input,
                          std::int32_t max_parallelism);

} // namespace headrace::task
