#pragma once

#include "libactors/rpc/node.hpp"

#include <memory>
#include <string>
#include <utility>

namespace headrace::cluster {

/// Starts one of a process's components below the root, on a thread of its own. When it fails, the
/// process cannot do its work any more: that is a fatal error of the node.
inline actors::address spawn_actor(actors::node& on, std::unique_ptr<actors::endpoint> what,
                                   std::string name, std::string kind) {
  actors::spawn_options options;
  options.name = std::move(name);
  options.kind = std::move(kind);
  options.where = actors::placement::control;
  options.policy = actors::supervision::escalate;
  return on.spawn(std::move(what), std::move(options));
}

} // namespace headrace::cluster
