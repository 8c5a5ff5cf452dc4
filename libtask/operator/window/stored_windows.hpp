#pragma once

#include "libtask/operator/stored_value.hpp"

#include <cstdint>

namespace headrace::task {

// Windows are told by their bounds as clocks tell them, where the window is.

/// The namespace of a window that lies by its end; or of one both of whose bounds are known.
stored_member window_ending(std::int64_t end_ms);
stored_member window_between(std::int64_t start_ms, std::int64_t end_ms);

/// Reads the rows that wait for their window to be over, to be put in order then.
stored_reader read_sorted_windows(const stored_operator& of, const state::state_description& state);
/// Reads the sessions of a key: their bounds, and what their aggregates have come to, or how many
/// rows they have and under which number these lie (`session_list`).
stored_reader read_sessions(const stored_operator& of, const state::state_description& state);
/// Reads the rows of sessions, whose namespace is the session's number: its first start.
stored_reader read_session_rows(const stored_operator& of, const state::state_description& state);

} // namespace headrace::task
