#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <memory>

namespace headrace::task {

/// Gives of each key the rows of some ranks in an order (SQL's Top-N), as a changelog: rows that
/// enter, and those that leave because better ones came. With the rank as a column, the rows behind
/// a change are given anew, each with its new rank. Of equal rows the earlier is before the later.
///
/// The state of a key is a row_list of the ranks up to the last; where rows are taken back, all
/// others wait in ordered_rows, so that one of them moves up when one in front of it goes:
///
///     ranks 1 … last     one value a key, found for a whole batch at once
///     the others         pieces of some kilobytes; only of an input that retracts
///
/// Rows are not kept where they are never given again: without an order none leaves, and of one
/// rank whose reader needs no -U only the order's key is. A batch is taken in slices, so that a
/// drain gives a bounded number of rows.
/// @errors none
result<std::unique_ptr<stream_operator>> make_rank_operator(const graph::operator_node& node,
                                                            const operator_context& context);

} // namespace headrace::task
