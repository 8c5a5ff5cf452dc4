#pragma once

#include "libgraph/stream_graph/stream_graph.hpp"

namespace headrace::graph {

/// Whether the two ends of an edge run in one task: the edge is forward, parallelism, explicit
/// maximum and slot sharing group are equal, the downstream operator has no other input edge, and
/// neither operator (nor the job) forbids it.
bool is_chainable(const stream_graph& graph, const stream_edge& edge, const job_settings& settings);

/// Makes the job graph: chains operators into vertices, gives vertices and results ids that follow
/// from the operators' ids, derives what is not set. The job has no id, arguments or artifacts yet.
/// @errors  as `validate`
result<job_graph> build_job_graph(const stream_graph& graph, const job_settings& settings);

/// Both steps at once. @errors as make_stream_graph and build_job_graph
result<job_graph> build_job_graph(const pipeline& program, std::int32_t default_parallelism);

} // namespace headrace::graph
