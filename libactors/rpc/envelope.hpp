#pragma once

#include "libactors/base/error.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/message/message.hpp"
#include "libactors/rpc/address.hpp"

#include <cstdint>

namespace headrace::actors {

enum class envelope_kind : std::uint8_t {
  tell,
  ask,
  reply,   ///< carries the payload of the answer
  failure, ///< carries why there is none
};

/// A message on its way from one endpoint to another. A value.
struct envelope {
  envelope_kind kind = envelope_kind::tell;
  address to;
  address from;
  std::uint64_t correlation = 0; ///< of an ask and its answer: chosen by the asker
  fencing_token fence;
  any_message payload;
  error failure;
};

/// Carries envelopes to other nodes, and tells the node of lost ones (`node::report_lost`,
/// `node::report_ended`). Any thread calls it; it never blocks.
class remote_link {
public:
  virtual ~remote_link() = default;
  /// What cannot be sent is answered by `node::receive` with a `failure`, as soon as that is known.
  virtual void send(envelope what) = 0;
  /// From now on `node::report_ended` is wanted when that endpoint ends or its node is lost.
  virtual void watch(const address& peer) = 0;
};

} // namespace headrace::actors
