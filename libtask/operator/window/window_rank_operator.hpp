#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <memory>

namespace headrace::task {

/// Gives the rows of some ranks of each key once, when the window that they carry is over: Top-N
/// and deduplication of windows. The state of a key is a row_list of the ranks up to the last, with
/// the window's end as namespace.
/// @errors bad_option_value (no such time zone)
result<std::unique_ptr<stream_operator>> make_window_rank_operator(const graph::operator_node& node,
                                                                   const operator_context& context);

} // namespace headrace::task
