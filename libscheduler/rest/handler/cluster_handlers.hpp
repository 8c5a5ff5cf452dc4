#pragma once

#include "libactors/base/ids.hpp"
#include "libactors/base/result.hpp"
#include "libactors/message/message.hpp"
#include "libactors/rpc/address.hpp"
#include "schema/job.capnp.h"
#include "schema/registration.capnp.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace headrace::scheduler {

// Answers about the cluster, as JSON in the shapes of Flink's REST interface.

/// Of /overview.
std::string describe_overview(const message<schema::JobList>& jobs,
                              const message<schema::TaskExecutorList>& executors);
/// Of /config.
std::string describe_config();
/// Of /jobmanager/config: what the cluster was set up with, secrets hidden.
std::string describe_settings(const std::map<std::string, std::string, std::less<>>& settings);
/// Of /taskmanagers.
std::string describe_executors(const message<schema::TaskExecutorList>& executors);
/// Of /taskmanagers/:id. @errors file_not_found  no such task manager
result<std::string> describe_executor(const message<schema::TaskExecutorList>& executors,
                                      const task_executor_id& wanted);

/// Where a client finds the parts of a cluster.
struct cluster_addresses {
  actors::address dispatcher;
  actors::address resource_manager;
  actors::address blob_server;
  std::string rpc_address = {}; ///< where other processes connect to; empty: nowhere
  std::uint16_t rpc_port = 0;   ///< 0: nowhere
  /// What jobs are submitted with where neither they nor their client say otherwise, by option.
  std::map<std::string, std::string, std::less<>> job_settings = {};
  std::string cluster_id = {}; ///< what its clients must have as cluster.id; empty: not told
};
/// Of /debug/cluster.
std::string describe_cluster(const cluster_addresses& known);

} // namespace headrace::scheduler
