#pragma once

#include "libtask/operator/stream_operator.hpp"

namespace headrace::task {

/// Runs a function of the job over two inputs: a `graph::co_process_spec`. Rows are taken as they
/// come, whichever input they are of; event time is the smaller one of both. With keys the function
/// has states and timers of them, as keyed_process_operator gives them. Heads its chain.
/// @errors graph_mismatch  the job's code has no such function
result<std::unique_ptr<stream_operator>> make_co_process_operator(const graph::operator_node& node,
                                                                  const operator_context& context);

} // namespace headrace::task
