#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <memory>

namespace headrace::task {

/// Aggregates rows by key and session: a row a session, when the watermark, or the clock, has
/// passed its end. The output has the keys, the results, and the session's start, end and last
/// millisecond. Only of aggregates that fit into a few words and can be merged (`group_cells`);
/// rows of sessions with others are kept by the session table operator.
/// @errors invalid_graph (other aggregates, or too many), bad_option_value (no such time zone)
result<std::unique_ptr<stream_operator>>
make_session_group_operator(const graph::operator_node& node, const operator_context& context);

} // namespace headrace::task
