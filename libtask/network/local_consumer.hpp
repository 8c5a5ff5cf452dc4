#pragma once

#include "libtask/network/result_partition.hpp"
#include "libactors/rpc/actor_ref.hpp"

#include <cstdint>
#include <vector>

namespace headrace::task {

/// Sends elements to a consumer of this process, by reference. Lives on the task's mailbox.
class local_consumer final : public exchange_channel {
public:
  /// @param channel  of the consumer: index over all its gates
  local_consumer(actors::actor_ref to, std::uint32_t channel)
      : to_(std::move(to)), channel_(channel) {}
  taken add(graph::stream_element element) override;
  void flush(bool closes) override;

private:
  actors::actor_ref to_;
  std::uint32_t channel_;
  std::vector<graph::stream_element> added_;
};

} // namespace headrace::task
