#pragma once

#include "libtask/network/link_writer.hpp"
#include "libtask/network/result_partition.hpp"
#include "libtask/network/wire_element.hpp"
#include "libgraph/data/buffer.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace headrace::task {

/// Sends elements to a consumer of another process: encodes them here, on the producer's thread,
/// and adds them to what its link writes; the producer sends at the end of its turn. What waits
/// there is bounded by the channel's credit and charged to the producer. An element costs no less
/// than its bytes, so that the credit bounds what its receiver must hold. Lives on the task's
/// mailbox.
class remote_consumer final : public exchange_channel {
public:
  struct setup {
    std::shared_ptr<link_writer> link;
    route_id route = 0;
    wire_options options;
    std::shared_ptr<graph::memory_budget> budget; ///< null: not counted
    /// Told what cannot be sent; the channel is silent from then on. Called while the task works.
    std::function<void(error)> fail;
  };
  explicit remote_consumer(setup with) : with_(std::move(with)) {}
  taken add(graph::stream_element element) override;
  void flush(bool closes) override;

private:
  setup with_;
  std::vector<wire_element> added_;
  bool has_failed_ = false;
};

} // namespace headrace::task
