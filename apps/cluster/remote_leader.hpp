#pragma once

#include "libactors/leader/leader_retrieval.hpp"
#include "libactors/transport/rpc_system.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace headrace::cluster {

/// Finds an endpoint of the node that listens at a fixed place, whichever process that is now.
class remote_leader final : public actors::leader_retrieval {
public:
  /// `rpc` lives longer.
  remote_leader(actors::rpc_system& rpc, actors::host_port there, std::string endpoint)
      : rpc_(rpc), there_(std::move(there)), endpoint_(std::move(endpoint)) {}

  result<actors::address> find() override {
    HEADRACE_TRY(const auto node, rpc_.connect_and_wait(there_, timeout));
    return actors::address{node, endpoint_, 0};
  }

private:
  static constexpr std::chrono::milliseconds timeout{5'000};
  actors::rpc_system& rpc_;
  actors::host_port there_;
  std::string endpoint_;
};

} // namespace headrace::cluster
