#pragma once

#include "libgraph/job_graph/job_graph.hpp"
#include "libactors/base/result.hpp"
#include "schema/graph.capnp.h"

namespace headrace::graph {

/// How a job is to be run, beside what it is: see job_graph_codec.
void write_settings(const job_graph& job, schema::JobGraph::Builder out);
/// @errors malformed_message
status read_settings(schema::JobGraph::Reader in, job_graph& job);

} // namespace headrace::graph
