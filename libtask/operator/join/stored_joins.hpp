#pragma once

#include "libtask/operator/stored_value.hpp"

namespace headrace::task {

/// Reads the rows of a join's side (`join_rows`). Empty: it is none.
///
/// Not told by the description is whether rows are taken back; then they lie without chunks, which
/// the bytes tell.
stored_reader read_join_side(const stored_operator& of, const state::state_description& state);
/// Reads the versions that a temporal join keeps, and the rows that wait for theirs.
stored_reader read_versions(const stored_operator& of, const state::state_description& state);

} // namespace headrace::task
