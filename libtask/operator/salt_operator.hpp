#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <memory>

namespace headrace::task {

/// Gives rows a bucket as a further column: one that follows from some of their columns, the same
/// for ever, or, of each row, one after the other. See graph::salt_spec.
/// @errors none
result<std::unique_ptr<stream_operator>> make_salt_operator(const graph::operator_node& node,
                                                            const operator_context& context);

} // namespace headrace::task
