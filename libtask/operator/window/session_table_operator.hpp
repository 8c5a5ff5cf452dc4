#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <memory>

namespace headrace::task {

/// Gives each row with the bounds of its session (SQL's SESSION over a table), once the session is
/// over: rows wait in state until then.
///
///     sessions   key → bounds, and the number under which the rows lie      session_windows
///     rows       (number, key) → rows, one behind the other
/// @errors invalid_graph, bad_option_value (no such time zone)
result<std::unique_ptr<stream_operator>>
make_session_table_operator(const graph::operator_node& node, const operator_context& context);

} // namespace headrace::task
