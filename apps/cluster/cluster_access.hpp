#pragma once

#include "libscheduler/rest/handler/cluster_handlers.hpp"
#include "libgraph/api/job_object.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/option.hpp"
#include "libactors/rpc/node.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace headrace::cluster {

/// A cluster as a command line reaches it: a node of this process, and where the cluster's parts
/// are. Ends what it started when it goes.
class cluster_access {
public:
  virtual ~cluster_access() = default;

  virtual actors::node& node() = 0;
  virtual const scheduler::cluster_addresses& addresses() const = 0;
  /// Whether a call failed so because the cluster is away, and may come back.
  virtual bool is_away(const error& failure) const = 0;
  /// Finds the cluster's parts anew, which may be in another process. May block for some seconds.
  virtual status find_again() = 0;
  /// The page of /debug/actors, of a cluster whose nodes do not all know this one; none: they do.
  virtual result<std::optional<std::string>> actors_page() = 0;
  /// Makes room for a job of so many slots, where the cluster is this process's own.
  virtual void provide_slots(std::int32_t needed) = 0;
};

/// Starts a cluster in this process. `files` and `loader` live longer.
/// @errors those of mini_cluster::start
result<std::unique_ptr<cluster_access>>
start_local_cluster(file_system& files, api::object_loader& loader, const configuration& settings);

} // namespace headrace::cluster
