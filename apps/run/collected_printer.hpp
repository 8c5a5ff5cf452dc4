#pragma once

#include "libscheduler/client/job_client.hpp"
#include "libgraph/job_graph/job_graph.hpp"

#include <cstdint>
#include <vector>

namespace headrace::run {

/// Fetches what a job's collecting sinks gave and prints it on standard output, one row a line.
class collected_printer {
public:
  /// Both live longer.
  collected_printer(scheduler::job_client& client, const graph::job_graph& job);

  /// Prints what there is now.
  status print_new();
  /// Prints all that is left of a job that has ended.
  status print_rest();

private:
  struct sink {
    operator_id id;
    graph::row_type_ptr type;
    std::uint64_t offset = 0;
    bool done = false;
  };
  status print(sink& from);

  scheduler::job_client& client_;
  job_id job_;
  std::vector<sink> sinks_;
};

} // namespace headrace::run
