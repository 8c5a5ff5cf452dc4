#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <memory>

namespace headrace::task {

/// Gives of each key and window the rows of some ranks, when the window is over, as
/// `make_window_rank_operator` does, however many they are: rows are kept as they come, and put in
/// order when the window is over, a key at a time. Of one task manager's memory the rows of the
/// largest key take as much as they are long.
/// @errors invalid_graph  the time zone is unknown
result<std::unique_ptr<stream_operator>> make_window_sort_operator(const graph::operator_node& node,
                                                                   const operator_context& context);

} // namespace headrace::task
