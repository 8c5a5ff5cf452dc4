#pragma once

#include "libgraph/stream_graph/job_graph_builder.hpp"

#include <initializer_list>
#include <string>
#include <utility>

namespace headrace::testing {

/// Describes pipelines of one-column rows, for tests of what is made of them.
class testing_pipeline {
public:
  graph::pipeline program;

  static graph::logical_type type();
  std::int32_t source(const std::string& name = "source");
  std::int32_t map(std::int32_t input, const std::string& name = "map");
  std::int32_t sink(std::int32_t input, const std::string& name = "sink");
  std::int32_t sum(std::int32_t input, const std::string& name = "sum");
  std::int32_t partition(std::int32_t input, graph::partitioner_kind kind);
  std::int32_t merge(std::initializer_list<std::int32_t> inputs);
  /// The rows of `left` that are not in `right`, both hash partitioned.
  std::int32_t anti_join(std::int32_t left, std::int32_t right, const std::string& name = "join");
  graph::transformation& at(std::int32_t index) { return program.at(index); }

  /// The names of the vertices: what chained with what.
  std::vector<std::string> vertex_names(std::int32_t parallelism = 2) const;
};

/// A job with every kind of operator, edge and setting in it, all fields away from their defaults.
graph::job_graph full_job();
/// A job of operators of two connected streams: with and without keys, with and without broadcast.
graph::job_graph connected_job();
/// A job of an async function, all fields away from their defaults.
graph::job_graph async_job();
/// A job of SQL's windows and OVER, none of their fields at its default.
graph::job_graph windowed_sql_job();

} // namespace headrace::testing
