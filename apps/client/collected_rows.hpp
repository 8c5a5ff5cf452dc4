#pragma once

#include "libscheduler/client/job_client.hpp"
#include "libgraph/job_graph/job_graph.hpp"

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace headrace::client {

/// Writes to standard output at once. @errors output_unusable  it takes no more
status print_to_standard_output(std::string_view text);

/// Fetches what a job's collecting sinks gave, and prints it, one row a line, or hands it on.
class collected_rows {
public:
  /// Gets whole lines. @errors what it fails with ends the printing
  using printer = std::function<status(std::string_view lines)>;
  /// Gets rows as they come, and an empty batch when no more have come yet.
  /// @errors what it fails with ends the fetching
  using taker = std::function<status(const graph::record_batch& rows)>;
  /// `job` with its id.
  collected_rows(const graph::job_graph& job, taker take);
  static taker lines_to(printer print);

  /// Takes what there is now.
  status take_new(scheduler::job_client& from);
  /// Takes all that is left of a job that has ended.
  status take_rest(scheduler::job_client& from);

private:
  struct sink {
    operator_id id;
    graph::row_type_ptr type;
    std::uint64_t offset = 0;
    bool done = false;
  };
  status fetch(scheduler::job_client& from, sink& of);

  job_id job_;
  taker take_;
  std::vector<sink> sinks_;
};

} // namespace headrace::client
