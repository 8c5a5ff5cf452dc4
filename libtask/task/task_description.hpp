#pragma once

#include "libstate/handle/state_handle.hpp"
#include "libgraph/job_graph/job_graph.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/rpc/address.hpp"
#include "libactors/transport/address_book.hpp"
#include "schema/deployment.capnp.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headrace::task {

/// A task executor that runs producers of a task's channels: whom to ask for what they write.
struct producer_place {
  task_executor_id task_executor;
  actors::address location;
  actors::host_port data; ///< where its node takes data connections; none: nowhere
};
/// One channel of a gate: what it reads. Small, for of a wide exchange there are millions.
struct channel_description {
  partition_id partition;
  std::uint32_t place = 0; ///< of its producer
  std::int32_t subpartition = 0;
  std::int32_t input = 0;
};
struct input_description {
  std::vector<producer_place> places;
  /// How producers deal out rows, by what they write; without functions.
  std::map<result_id, graph::partitioner_spec> partitioners;
  std::vector<channel_description> channels; ///< of all gates, in order
  const producer_place& place_of(const channel_description& channel) const {
    return places[channel.place];
  }
};

struct partition_description {
  partition_id partition;
  std::int32_t subpartitions = 1;
  std::int32_t consumer_max_parallelism = 0; ///< 0: as the vertex
};

struct job_description {
  job_id id;
  std::string name;
  std::vector<std::string> arguments;
  std::vector<graph::artifact> artifacts;
  std::string graph_hash;
  actors::address blob_server;
  std::string state_backend;
  std::string checkpoint_directory;
  bool checkpointing = false;
  bool periodic_checkpoints = false;
  bool at_least_once = false;
  bool may_drop_state = false; ///< restored state that no operator declares
  std::int64_t buffer_timeout_ms = 10;
  std::int32_t committer_retries = 10;
};

/// What a task executor is told to run. A value; decoded from TaskDeployment.
struct task_description {
  job_description job;
  actors::address job_master;
  fencing_token job_master_token;
  execution_attempt_id attempt;
  allocation_id allocation;
  graph::job_vertex vertex;
  /// Shared by the subtask and its task executor; not null.
  std::shared_ptr<const input_description> inputs = std::make_shared<const input_description>();
  std::vector<partition_description> partitions;
  checkpoint_id restored_checkpoint = 0;
  state::task_state_snapshot state;

  /// "words -> count (2/4)", for people.
  std::string display_name() const;
  const std::vector<channel_description>& channels() const { return inputs->channels; }
};

/// @errors malformed_message, invalid_graph, type_mismatch
result<task_description> read_task_deployment(schema::TaskDeployment::Reader in);

} // namespace headrace::task
