#pragma once

#include "libtask/network/wire_element.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/error.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/base/shared_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace headrace::task {

/// Names a channel on one link; chosen by the consumer's node, each only once.
using route_id = std::uint32_t;

struct route_request {
  route_id route = 0;
  partition_id partition;
  std::uint32_t subpartition = 0;
  std::uint64_t credit_bytes = 0;
};
struct route_refusal {
  route_id route = 0;
  error reason;
};
struct route_credit {
  route_id route = 0;
  std::uint64_t bytes = 0;
};
/// Elements of one route, in order. `closes`: nothing follows.
struct route_piece {
  route_id route = 0;
  std::vector<wire_element> elements;
  bool closes = false;
};

/// What two nodes tell each other about their channels at once. Its parts take effect in this
/// order.
struct data_frame {
  std::vector<route_request> requests;
  std::vector<route_refusal> refusals;
  std::vector<route_credit> credits;
  std::vector<route_id> abandoned;
  std::vector<route_piece> pieces;
  bool leaves = false; ///< the sender needs the link no more, and has closed it
};

/// A frame as bytes. The header says how many bytes of words the body begins with: those may be
/// more than a header may have. Behind the words come the batches. Each begins at a multiple of 64,
/// with zeros before it.
struct encoded_frame {
  byte_string header;
  std::vector<shared_bytes> body; ///< in pieces, one behind the other
  std::size_t body_bytes = 0;
};
encoded_frame encode_frame(const data_frame& frame);

/// Reads a frame; batches stay in the body, and hold `owner` alive.
///
/// @param body  at a multiple of 64
/// @errors malformed_message  a size, count or value that `encode_frame` cannot have written
result<data_frame> decode_frame(byte_view header, byte_view body,
                                const std::shared_ptr<const void>& owner);

} // namespace headrace::task
