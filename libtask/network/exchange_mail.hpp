#pragma once

#include "libtask/mailbox/mail_kind.hpp"
#include "libtask/network/data_frame.hpp"
#include "libgraph/data/stream_element.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/rpc/actor_ref.hpp"
#include "libactors/rpc/mail.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace headrace::task {

class link_writer;

/// Elements of one channel, in order. `closes`: the producer has finished, nothing follows.
struct exchange_data final : actors::mail {
  exchange_data() : mail(static_cast<std::uint32_t>(mail_kind::exchange_data)) {}
  std::uint32_t channel = 0; ///< of the consumer: index over all its gates
  std::vector<graph::stream_element> elements;
  bool closes = false;
};

/// Bytes that a consumer has taken out of one channel's queue.
struct exchange_credit final : actors::mail {
  exchange_credit() : mail(static_cast<std::uint32_t>(mail_kind::exchange_credit)) {}
  result_id result; ///< of the producer
  std::uint32_t subpartition = 0;
  std::uint64_t bytes = 0;
};

/// A consumer wants what the producer writes into one subpartition. A consumer of another process
/// is behind a link, on a route.
struct attach_consumer final : actors::mail {
  attach_consumer() : mail(static_cast<std::uint32_t>(mail_kind::attach_consumer)) {}
  result_id result;
  std::uint32_t subpartition = 0;
  std::uint32_t channel = 0;
  std::uint64_t credit_bytes = 0;
  actors::actor_ref consumer;        ///< of this process
  std::shared_ptr<link_writer> link; ///< null: it is of this process
  route_id route = 0;
};

/// Elements of one channel from another process, in order.
struct remote_data final : actors::mail {
  remote_data() : mail(static_cast<std::uint32_t>(mail_kind::remote_data)) {}
  std::uint32_t channel = 0;
  std::vector<wire_element> elements;
  bool closes = false;
};
/// The channel's producer has been asked over this link: credit goes there.
struct remote_opened final : actors::mail {
  remote_opened() : mail(static_cast<std::uint32_t>(mail_kind::remote_opened)) {}
  std::uint32_t channel = 0;
  std::shared_ptr<link_writer> link;
  route_id route = 0;
};

/// What an element costs at least: what it takes in a queue itself.
inline constexpr std::size_t exchange_cost_least = 64;
/// Bytes of credit that an element takes: for rows their share of what the batch holds alive. Both
/// sides of a channel reckon with it; between processes an element costs no less than its bytes.
std::size_t exchange_cost(const graph::stream_element& element);

} // namespace headrace::task
