#pragma once

#include "libtask/operator/stored_value.hpp"

namespace headrace::task {

/// Reads the rows that wait to go through a pattern; one without columns is a time at which a match
/// becomes too long.
stored_reader read_match_waiting(const stored_operator& of, const state::state_description& state);
/// Reads the matches that have begun: their rows, and by which of these each has come how far.
stored_reader read_begun_matches(const stored_operator& of, const state::state_description& state);

} // namespace headrace::task
