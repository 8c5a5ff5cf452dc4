#pragma once

#include "libgraph/job_graph/job_graph.hpp"
#include "libactors/message/message.hpp"
#include "schema/graph.capnp.h"

namespace headrace::graph {

/// Largest counts that a decoded graph may have: what a job needs many times over, and small enough
/// that a hostile message costs little.
struct job_graph_limits {
  static constexpr std::size_t vertices = 10'000;
  static constexpr std::size_t operators = 10'000; ///< of one vertex
  static constexpr std::size_t edges = 100'000;    ///< of one vertex, of each kind
  static constexpr std::size_t columns = 10'000;   ///< of one list of columns, calls or types
  static constexpr std::size_t options = 10'000;   ///< of one connector
  static constexpr std::size_t arguments = 10'000;
};

/// Writes a whole job. What `decode` gives back is equal.
message<schema::JobGraph> encode(const job_graph& job);
/// Reads a job and runs `validate` over it.
/// @errors malformed_message  an unknown number of an enumeration, a limit exceeded, a broken type
/// @errors invalid_graph, type_mismatch, duplicate_uid  as `validate`
result<job_graph> decode(schema::JobGraph::Reader in);

/// Writes one vertex, for the message that deploys its subtasks.
void encode(const job_vertex& vertex, schema::JobVertex::Builder out);
/// Reads one vertex; checks it by itself (the edges inside it, but not what other vertices know).
/// @errors malformed_message, invalid_graph, type_mismatch
result<job_vertex> decode_vertex(schema::JobVertex::Reader in);

} // namespace headrace::graph
