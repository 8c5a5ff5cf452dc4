#pragma once

#include "libscheduler/rest/handler/actor_handlers.hpp"
#include "libactors/gateway/gateway.hpp"
#include "schema/registration.capnp.h"

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <vector>

namespace headrace::scheduler {

/// Asks the nodes of a cluster who lives there: the nodes that the asker names, and those of the
/// registered task executors. A value, used in the turns of the endpoint that owns it.
class actor_census {
public:
  actor_census(actors::endpoint& asker, actors::address resource_manager, std::set<node_id> nodes,
               std::chrono::milliseconds timeout)
      : asker_(&asker), resource_manager_(std::move(resource_manager)), nodes_(std::move(nodes)),
        timeout_(timeout) {}

  /// Nodes that do not answer in time are among them, as silent.
  void take(std::function<void(std::vector<node_actors>)> then) const;
  void take_of(const node_id& node, std::function<void(node_actors)> then) const;

private:
  actors::endpoint* asker_;
  actors::address resource_manager_;
  std::set<node_id> nodes_;
  std::chrono::milliseconds timeout_;
};

} // namespace headrace::scheduler
