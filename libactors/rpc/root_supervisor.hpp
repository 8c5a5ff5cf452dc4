#pragma once

#include "libactors/registry/actor_registry.hpp"
#include "libactors/rpc/endpoint.hpp"

namespace headrace::actors {

/// The root of a node's supervision tree: parent of what `node::spawn` starts. A child that fails
/// and is to escalate is a fatal error of the node; any other is logged. Answers
/// `schema::ListActors` under the name "root".
class root_supervisor final : public endpoint {
public:
  explicit root_supervisor(const actor_registry& registry);

protected:
  void on_child_ended(const std::string& name, const error& cause) override;
};

} // namespace headrace::actors
