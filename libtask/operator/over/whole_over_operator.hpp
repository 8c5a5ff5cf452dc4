#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <memory>

namespace headrace::task {

/// Gives each row with the results of functions over rows of its partition, in any order and any
/// window (SQL's OVER in batch mode), when the watermark has passed their time: of rows that end,
/// all have one.
///
///     waiting   (time >> 10, key) → rows, each with its time
///
/// A drain takes the rows of some keys, computes all their results in memory, and gives them piece
/// by piece.
/// @errors none
result<std::unique_ptr<stream_operator>> make_whole_over_operator(const graph::operator_node& node,
                                                                  const operator_context& context);

} // namespace headrace::task
