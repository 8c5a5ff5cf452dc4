#pragma once

#include "libgraph/transformation/pipeline.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::graph {

/// One operator, with everything known but who runs with it in one task.
struct stream_node {
  operator_node op;
  std::int32_t parallelism = 1;
  std::int32_t max_parallelism = 0; ///< 0: not set
  std::string slot_sharing_group = "default";
  chaining_policy chaining = chaining_policy::always;
};

/// Rows of an output of one node that go to an input of a later one.
struct stream_edge {
  std::int32_t from = 0;
  std::int32_t side = -1;
  std::int32_t to = 0;
  std::int32_t input = 0;
  partitioner_spec partitioner;
};

/// The operators of a job in topological order, and their edges in the order of `to`. Unions,
/// partitionings and side outputs of the pipeline are folded into edges.
struct stream_graph {
  std::vector<stream_node> nodes;
  std::vector<stream_edge> edges;
};

/// Makes the stream graph of a pipeline.
///
/// Operator ids are stable: from the uid when one is set, else from the kind of the operator, the
/// ids of its inputs and its rank among operators that are alike in these; so adding, removing or
/// renaming an operator elsewhere changes no id. Of SQL the statement and place take the rank's
/// part, and operators that keep no state are looked through: they come and go with the plan.
///
/// @param default_parallelism  of operators without their own, when the settings have none either;
///                             0: structure only, every operator gets 1 (for one who rebuilds the
///                             graph and does not know what its client chose)
/// @errors invalid_graph  no operators; explicit forward between different parallelism; parallelism
///                        out of range; an output that no operator could read
/// @errors duplicate_uid  two operators with one uid
/// @errors type_mismatch  a union of different types
result<stream_graph> make_stream_graph(const pipeline& program, std::int32_t default_parallelism);

} // namespace headrace::graph
