#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <memory>

namespace headrace::task {

/// Joins rows with those of a table, which is read once, when the operator opens: a
/// `graph::lookup_join_spec`. Takes no rows before. Rows keep their kinds and times; one without a
/// match is dropped, or, of a left join, leaves with NULLs. Many pairs leave in pieces, one a
/// `drain`. @errors what the condition's program and the connector give
result<std::unique_ptr<stream_operator>> make_lookup_join_operator(const graph::operator_node& node,
                                                                   const operator_context& context);

} // namespace headrace::task
