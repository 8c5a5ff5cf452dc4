#pragma once

#include "libscheduler/execution_graph/execution_graph.hpp"
#include "libactors/message/message.hpp"
#include "libactors/rpc/address.hpp"
#include "libactors/transport/address_book.hpp"
#include "schema/task.capnp.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace headrace::scheduler {

/// What the descriptors of all tasks of a job have in common, besides its graph.
struct deployment_facts {
  actors::address job_master;
  fencing_token token;
  actors::address blob_server;
  std::string checkpoint_directory;
  std::map<vertex_id, std::int32_t> max_parallelism; ///< where a restored one replaces the graph's
  std::map<task_executor_id, actors::host_port> data{}; ///< where their nodes take data connections
  /// Tasks that have read everything wait for a checkpoint that holds their end.
  bool takes_final_checkpoint = true;
};

/// What a task starts from. `write_state` fills TaskDeployment.state; empty: without state.
struct deployment_state {
  checkpoint_id restored_checkpoint = 0;
  std::function<void(schema::TaskDeployment::Builder)> write_state;
};

/// Describes the current attempt of a task: its vertex, the partitions that it writes, and for each
/// gate the partitions that it reads, with the places of their producers. All tasks of the region
/// have their slots.
message<schema::SubmitTask> describe_deployment(const execution_graph& graph, task_index task,
                                                const deployment_facts& facts,
                                                const deployment_state& state);

} // namespace headrace::scheduler
