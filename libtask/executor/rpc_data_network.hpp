#pragma once

#include "libtask/executor/data_network.hpp"
#include "libactors/transport/rpc_system.hpp"

namespace headrace::task {

/// Links over the transport of this node. Lives longer than the node's task executors, and shorter
/// than `over`.
class rpc_data_network final : public data_network {
public:
  /// @param own  where other nodes reach this one
  rpc_data_network(actors::rpc_system& over, actors::host_port own)
      : over_(over), own_(std::move(own)) {}

  actors::host_port own_address() const override { return own_; }
  void learn(const node_id& peer, const actors::host_port& where) override;
  void dial(const node_id& peer, std::function<void(status)> then) override;
  void take_links(link_taker taker) override;

private:
  actors::rpc_system& over_;
  actors::host_port own_;
};

} // namespace headrace::task
