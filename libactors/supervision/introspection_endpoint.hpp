#pragma once

#include "libactors/registry/actor_registry.hpp"
#include "libactors/rpc/node.hpp"

#include <string_view>

namespace headrace::actors {

/// The name under which every node answers `schema::ListActors`.
inline constexpr std::string_view introspection_name = "introspection";

/// Tells who lives on its node. One a node.
class introspection_endpoint final : public endpoint {
public:
  /// `registry` is the node's, and lives as long.
  explicit introspection_endpoint(const actor_registry& registry);
};

/// Starts the one of a node.
address spawn_introspection(node& on);

} // namespace headrace::actors
