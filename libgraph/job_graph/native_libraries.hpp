#pragma once

#include "libgraph/job_graph/job_graph.hpp"

#include <set>
#include <string>

namespace headrace::graph {

/// The libraries, by SHA-256, that users' functions in C++ of a vertex lie in: what it needs to run
/// beside the job object. They are artifacts of the job.
std::set<std::string> native_libraries(const job_vertex& vertex);
/// Of all vertices.
std::set<std::string> native_libraries(const job_graph& job);

} // namespace headrace::graph
