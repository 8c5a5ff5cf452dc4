#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <memory>

namespace headrace::task {

/// Gives each row once for each of its windows (SQL's TUMBLE, HOP and CUMULATE over a table), with
/// the window's start, end and last millisecond behind its columns. Copies no row: a batch leaves
/// once for the first windows of its rows, once for the second ones, and so on, each time with
/// other bounds behind the same columns.
/// @errors invalid_graph, bad_option_value (no such time zone)
result<std::unique_ptr<stream_operator>>
make_window_table_operator(const graph::operator_node& node, const operator_context& context);

} // namespace headrace::task
