#pragma once

#include "libstate/key/key_schema.hpp"
#include "libgraph/data/record_batch.hpp"
#include "libgraph/job_graph/job_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

// What follows from the kind of a join for its sides: 0 is the left one, 1 the right one.
namespace headrace::task {

/// Whether rows of the side leave without a match, too.
inline bool is_outer(graph::join_kind kind, std::size_t side) {
  return kind == graph::join_kind::full ||
         kind == (side == 0 ? graph::join_kind::left : graph::join_kind::right);
}
inline bool is_left_alone(graph::join_kind kind) {
  return kind == graph::join_kind::semi || kind == graph::join_kind::anti;
}
/// Whether what is emitted of the side's rows depends on how many they match.
inline bool counts_matches(graph::join_kind kind, std::size_t side) {
  return is_outer(kind, side) || (is_left_alone(kind) && side == 0);
}

/// Both sides have keys of one type; where one may be NULL, the state's may.
state::key_schema join_key_schema(const graph::join_spec& spec, const graph::operator_node& node);

/// The rows that may match: those without NULL in a key that is not null-safe.
/// @param lookups  gets their column rows
/// @param places   by selected row: in `lookups`, or the greatest number for one that matches
///                 nothing
void find_matchable(const graph::record_batch& rows, const std::vector<std::int32_t>& key_columns,
                    const std::vector<std::uint8_t>& null_safe, std::vector<std::uint32_t>& lookups,
                    std::vector<std::uint32_t>& places);

} // namespace headrace::task
