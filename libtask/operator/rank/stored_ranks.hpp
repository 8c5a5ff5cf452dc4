#pragma once

#include "libtask/operator/stored_value.hpp"

namespace headrace::task {

/// Reads the rows that have ranks, in the order of these; those of windows too (`row_list`). Of an
/// operator that keeps the best key alone, what that is.
stored_reader read_ranks(const stored_operator& of, const state::state_description& state);
/// Reads how many rows have a rank, where they have no order.
stored_reader read_rank_counts(const stored_operator& of, const state::state_description& state);
/// Reads the rows behind those with ranks, and the directory of their pieces (`ordered_rows`). What
/// they are of is told by the state of those with ranks.
stored_reader read_other_ranks(const stored_operator& of, const state::state_description& state);
stored_reader read_rank_directory(const stored_operator& of, const state::state_description& state);

} // namespace headrace::task
