#pragma once

#include "libactors/registry/actor_record.hpp"
#include "libactors/rpc/endpoint.hpp"

#include <memory>

namespace headrace::actors {

class node_core;

/// What carries an endpoint: its CAF actor. Lives longer than the endpoint.
struct endpoint::host {
  host(std::shared_ptr<node_core> core_in, actor_environment environment_in,
       std::shared_ptr<actor_record> record_in)
      : core(std::move(core_in)), environment(std::move(environment_in)),
        record(std::move(record_in)) {}
  virtual ~host() = default;

  /// Ends the actor after this turn; no further delivery follows.
  virtual void end(error cause) = 0;

  const std::shared_ptr<node_core> core;
  const actor_environment environment;
  const std::shared_ptr<actor_record> record;
  address self;
  bool is_root = false;
  std::shared_ptr<const actor_ref::target> target;
};

} // namespace headrace::actors
