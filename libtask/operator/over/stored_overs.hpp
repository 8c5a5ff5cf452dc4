#pragma once

#include "libtask/operator/stored_value.hpp"

namespace headrace::task {

/// Reads the rows that wait for their results of OVER.
stored_reader read_over_waiting(const stored_operator& of, const state::state_description& state);
/// Reads what OVER carries from row to row: the rows that later ones need, how many rows there
/// were, and the sums where the window has no beginning.
stored_reader read_over_carried(const stored_operator& of, const state::state_description& state);

} // namespace headrace::task
