#pragma once

#include "libactors/rpc/envelope.hpp"
#include "libactors/transport/frame.hpp"
#include "libactors/transport/outbox.hpp"

namespace headrace::actors {

// Messages between nodes as frames. The header of what is sequenced begins with two numbers, that
// of the message and that of the last one that its sender has received.

/// The numbers at the beginning of a sequenced frame's header.
struct sequence_numbers {
  static constexpr std::size_t size_bytes = 16;
  std::uint64_t sequence = 0;
  std::uint64_t acknowledged = 0;
};
byte_string encode(const sequence_numbers& numbers);
/// @errors malformed_message  the header is shorter
result<sequence_numbers> decode_numbers(byte_view header);

/// Everything but the numbers. The payload's words are shared, not copied.
/// @errors message_too_large  the payload, or what an error says, is larger than a frame may be
result<outbox::item> encode_envelope(const envelope& what);
struct arrived_envelope {
  envelope what;
  error unfit; ///< why its payload cannot be read; code none: it can
};
/// Checks all that the bytes say. `from_node` is the authenticated sender: words of another node
/// are refused. @errors malformed_message  the header cannot be read
result<arrived_envelope> decode_envelope(const incoming_frame& frame, const node_id& from_node,
                                         const node_id& own);

outbox::item encode_watch(const address& endpoint);
result<address> decode_watch(const incoming_frame& frame);

struct ended_endpoint {
  address endpoint;
  error cause;
};
outbox::item encode_ended(const ended_endpoint& what);
result<ended_endpoint> decode_ended(const incoming_frame& frame);

/// Not sequenced.
outgoing_frame make_heartbeat(std::uint64_t received);
result<std::uint64_t> decode_heartbeat(const incoming_frame& frame);
outgoing_frame make_goodbye(const std::string& cause);
std::string decode_goodbye(const incoming_frame& frame);

} // namespace headrace::actors
